"""Further brokers' files in the shape of their exports; accounts, names and figures are made up."""

SCHWAB = """\
"Transactions  for account Individual ...123 as of 10/15/2024 08:00:00 ET"
"Date","Action","Symbol","Description","Quantity","Price","Fees & Comm","Amount"
"10/03/2024","Sell","AAPL","APPLE INC","4","$200.00","$1.00","$799.00"
"09/30/2024","Reinvest Shares","SPY","SPDR S&P 500 ETF","0.05","$570.00","","-$28.50"
"09/30/2024","Reinvest Dividend","SPY","SPDR S&P 500 ETF","","","","$28.50"
"09/15/2024","NRA Tax Adj","AAPL","APPLE INC","","","","-$0.38"
"09/15/2024","Qualified Dividend","AAPL","APPLE INC","","","","$2.50"
"08/15/2024 as of 08/14/2024","Buy","AAPL","APPLE INC","10","$150.00","","-$1,500.00"
"08/01/2024","Stock Split","AVGO","BROADCOM INC","9","$170.067","",""
"07/30/2024","Credit Interest","","SCHWAB1 INT 06/27-07/29","","","","$1.63"
"07/02/2024","MoneyLink Transfer","","Tfr A BANK","","","","-$30.00"
"07/01/2024","Wire Received","","WIRED FUNDS RECEIVED","","","","$5,000.00"
"Transactions Total","","","","","","","$4,272.75"
"""

INVESTENGINE = """\
Transaction Statement: 01 Feb 2025 - 25 Aug 2026 (Portfolio: DIY 1 / Reference: IP00000000)
Security / ISIN,Transaction Type,Quantity,Share Price,Total Trade Value,Trade Date/Time,Settlement Date,Broker
Foo All-World / ISIN IE00BK5BQT80,Buy,10.000000,£100.00,"£1,000.00",04/03/25 15:06:44,06/03/25,None
Foo All-World / ISIN IE00BK5BQT80,Sell,4.000000,£110.00,£440.00,30/04/25 14:13:11,02/05/25,None
"""

DEGIRO = """\
Date,Time,Product,ISIN,Reference exchange,Venue,Quantity,Price,,Local value,,Value EUR,Exchange rate,AutoFX Fee,\
Transaction and/or third party fees EUR,Total EUR,Order ID,
12-03-2024,09:05,APPLE INC,US0378331005,NDQ,XNAS,5,"200,0000",USD,"-1.000,00",USD,"-920,00","1,0870","-2,30","-2,00",\
"-924,30",,993ae5df-0000
13-03-2024,09:05,FOO ALL-WORLD,IE00BK5BQT80,EAM,XAMS,8,"50,0000",EUR,"-400,00",EUR,"-400,00",,"0,00","-1,00","-401,00",\
,aaaa0001-0000
13-03-2024,09:05,FOO ALL-WORLD,IE00BK5BQT80,EAM,XAMS,2,"50,0000",EUR,"-100,00",EUR,"-100,00",,"0,00",,"-100,00",,\
aaaa0001-0000
20-03-2024,16:00,FOO ALL-WORLD,IE00BK5BQT80,EAM,XAMS,-3,"60,0000",EUR,"180,00",EUR,"180,00",,"0,00","-1,00","179,00",,\
bbbb0001-0000
"""

DEGIRO_BEFORE = """\
Date,Time,Product,ISIN,Reference,Venue,Quantity,Price,,Local value,,Value,,Exchange rate,Transaction and/or third,,\
Total,,Order ID
15-03-2024,10:30,FOO PLC,GB00BH4HKS39,LSE,XLON,100,70.00,GBX,-7000.00,GBX,-70.00,GBP,100.0000,-2.00,GBP,-72.00,GBP,c-1
"""

ETORO = """\
Date,Type,Details,Amount,Units,Realized Equity Change,Realized Equity,Balance,Position ID,Asset type,NWA
01/05/2024 10:00:00,Deposit,-,"1,000.00",-,0.00,"1,000.00","1,000.00",-,,0.00
13/05/2024 15:37:16,Open Position,AMD/USD,500.00,4,0.00,"1,000.00",500.00,2596572937,Stocks,0.00
14/05/2024 00:10:33,Dividend,AMD/USD,0.17,-,0.17,"1,000.17",500.17,2596572937,Stocks,0.00
15/05/2024 15:30:40,Position closed,AMD/USD,150.00,1,25.00,"1,025.17",650.17,2596572937,Stocks,0.00
16/05/2024 15:30:40,Open Position,NSDQ100/USD,100.00,0.1,0.00,"1,025.17",550.17,2596572940,CFD,0.00
17/05/2024 00:51:22,Overnight fee,Daily,(0.31),-,(0.31),"1,024.86",549.86,2596572940,CFD,0.00
18/05/2024 13:09:09,Withdraw Request,-,-100.00,-,-100.00,924.86,449.86,-,,0.00
19/05/2024 13:09:09,Interest Payment,,0.08,-,0.08,924.94,449.94,-,,0.00
"""

COINBASE = """\
You can use this transaction report to inform your likely tax obligations.
Transactions
User,A Client,00000000-0000-0000-0000-000000000000
ID,Timestamp,Transaction Type,Asset,Quantity Transacted,Price Currency,Price at Transaction,Subtotal,\
Total (inclusive of fees and/or spread),Fees and/or Spread,Notes
a0,2024-01-04 09:00:00 UTC,Deposit,GBP,1000,GBP,£1.00,"£1,000.00","£1,000.00",£0.00,Deposit from a bank
a1,2024-01-05 14:22:10 UTC,Buy,BTC,0.01,GBP,"£34,000.00",£340.00,£345.00,£5.00,Bought 0.01 BTC for 345 GBP
a2,2024-02-01 09:00:00 UTC,Staking Income,ETH,0.002,GBP,"£2,000.00",£4.00,£4.00,£0.00,
a3,2024-03-01 10:00:00 UTC,Advanced Trade Sell,BTC,-0.004,GBP,"£40,000.00",-£160.00,-£158.50,£1.50,Sold 0.004 BTC
a4,2024-04-01 10:00:00 UTC,Convert,BTC,-0.001,GBP,"£40,000.00",£40.00,£40.00,£0.00,Converted 0.001 BTC to 0.01 ETH
a5,2024-05-01 10:00:00 UTC,Send,BTC,-0.001,GBP,"£40,000.00",-£40.00,-£40.00,£0.00,Sent 0.001 BTC
"""

FLEX_CSV = """\
"BOF","U1","all","2","20260101","20260131","20260204;041910","",""
"BOA","U1"
"BOS","TRNT","Trades; trade date basis"
"HEADER","TRNT","ClientAccountID","CurrencyPrimary","FXRateToBase","AssetClass","Symbol","Description","ISIN",\
"DateTime","TradeDate","SettleDateTarget","Quantity","TradePrice","Proceeds","Taxes","IBCommission",\
"IBCommissionCurrency","Buy/Sell","TransactionID","LevelOfDetail"
"DATA","TRNT","U1","USD","","STK","AAPL","APPLE INC","","","20260115","","10","150.25","-1502.5","","","","","",\
"SYMBOL_SUMMARY"
"DATA","TRNT","U1","USD","0.8","STK","AAPL","APPLE INC","US0378331005","20260115;103045","20260115","20260116","10",\
"150.25","-1502.5","0","-1.5","USD","BUY","101","EXECUTION"
"EOS","TRNT","2",""
"BOS","CTRN","Cash Transactions"
"HEADER","CTRN","ClientAccountID","CurrencyPrimary","FXRateToBase","Symbol","Description","ISIN","SettleDate","Amount",\
"Type","TransactionID","LevelOfDetail"
"DATA","CTRN","U1","GBP","1","","CASH RECEIPTS","","20260102","3000","Deposits/Withdrawals","104","DETAIL"
"DATA","CTRN","U1","USD","0.79","AAPL","AAPL CASH DIVIDEND USD 0.25 PER SHARE","US0378331005","20260122","2.5",\
"Dividends","102","DETAIL"
"DATA","CTRN","U1","USD","0.79","AAPL","AAPL - US TAX","US0378331005","n/a","-0.38","Withholding Tax","103","DETAIL"
"HEADER","POST","ClientAccountID","CurrencyPrimary","Symbol","MarkPrice","PositionValue"
"DATA","POST","U1","USD","AAPL","160","1600"
"EOS","CTRN","3",""
"EOA","U1"
"EOF"
"""

FLEX_CSV_OF_TRADES = """\
"Buy/Sell","TradeDate","ISIN","Quantity","TradePrice","TradeMoney","CurrencyPrimary","IBCommission","IBCommissionCurrency"
"BUY","20230522","US9220427424","95","93.78","8909.1","USD","-1","USD"
"SELL","20240522","US9220427424","-5","100","-500","USD","-1","USD"
"BUY","05/22/2023","US9220427424","95","93.78","8909.1","USD","-1","USD"
"""
