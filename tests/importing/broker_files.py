"""Brokers' files in the shape of their exports; accounts, names and figures are made up."""

TRADING_212 = """\
Action,Time,ISIN,Ticker,Name,Notes,ID,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result,\
Currency (Result),Total,Currency (Total),Withholding tax,Currency (Withholding tax),Stamp duty reserve tax,\
Currency (Stamp duty reserve tax),Finra fee,Currency (Finra fee),Currency conversion fee,\
Currency (Currency conversion fee)
Deposit,2024-05-01 00:10:00.000,,,,,D-1,,,,,,,10000.00,GBP,,,,,,,,
Market buy,2024-05-02 14:30:05.123,US0378331005,AAPL,"Apple, Inc",,E-2,10.0000000000,150.00,USD,1.25,,,1201.80,GBP,\
,,,,,,1.80,GBP
Market buy,2024-06-03 09:00:00,GB00BH4HKS39,VOD,Vodafone,,E-4,1000,70.00,GBX,100,,,703.50,GBP,,,3.50,GBP,,,,
Limit sell,2024-06-27 15:45:10.456,US0378331005,AAPL,"Apple, Inc",,E-3,4.0000000000,160.00,USD,1.28,46.29,GBP,\
499.21,GBP,,,,,0.05,USD,0.75,GBP
Dividend (Dividend),2024-07-01 18:35:26,US0378331005,AAPL,"Apple, Inc",,,6.0,0.34,USD,Not available,,,1.60,GBP,\
0.36,USD,,,,,,
Interest on cash,2024-07-02 11:05:03.126,,,,Interest on cash,f0f0-1,,,,,,,0.04,GBP,,,,,,,,
Stock split close,2024-07-15T07:00:00.000+00:00,GB00BH4HKS39,VOD,Vodafone,,C-1,1000.0000000000,0.70,GBP,,0.00,GBP,\
700.00,GBP,,,,,,,,
Stock split open,2024-07-15T07:00:00.009+00:00,GB00BH4HKS39,VOD,Vodafone,,O-1,100.0000000000,7.00,GBP,,,,700.00,\
GBP,,,,,,,,
Withdrawal,2024-08-26 16:18:16.235,,,,Sent to a bank,W-1,,,,,,,-2000.00,GBP,,,,,,,,
Result adjustment,2024-08-27 13:12:49,,,,A refund,R-1,,,,,,,0.75,GBP,,,,,,,,
"""

FREETRADE = """\
Title,Type,Timestamp,Account Currency,Total Amount,Buy / Sell,Ticker,ISIN,Price per Share in Account Currency,\
Stamp Duty,Quantity,Venue,Order ID,Order Type,Instrument Currency,Total Shares Amount,Price per Share,FX Rate,\
Base FX Rate,FX Fee (BPS),FX Fee Amount,Dividend Ex Date,Dividend Pay Date,Dividend Eligible Quantity,\
Dividend Amount Per Share,Dividend Gross Distribution Amount,Dividend Net Distribution Amount,\
Dividend Withheld Tax Percentage,Dividend Withheld Tax Amount
Nasdaq,DIVIDEND,2023-12-22T17:11:00.000Z,GBP,0.93,,NDAQ,US6311031081,,,6.36545916,,,,USD,,,,0.78491703,0,0.00,\
2023-12-07,2023-12-22,6.36545916,0.22000000,1.40,1.19,15,0.21
Interest,INTEREST_FROM_CASH,2023-10-16T00:00:00.000Z,GBP,9.02,,,,,,,,,,,,,,,,,,,,,,,,
Nasdaq,ORDER,2022-02-01T15:04:35.355Z,GBP,139.79,BUY,NDAQ,US6311031081,132.51921688,0.00,1.05011185,Multiple,\
9AFQXD,MARKET,USD,187.76,178.80000000,1.34316842,1.34924000,45,0.63,,,,,,,,
Nasdaq,FREESHARE_ORDER,2022-01-29T16:16:49.475Z,GBP,130.00,BUY,NDAQ,US6311031081,130.00000000,0.00,1.00000000,\
Nasdaq,O52KRZ,,USD,178.00,178.00000000,1.32265000,1.32265000,45,0.00,,,,,,,,
Top up,TOP_UP,2022-01-28T20:41:58.209Z,GBP,1000.00,,,,,,,,,,,,,,,,,,,,,,,,
"""

HARGREAVES_LANSDOWN = """\
Transaction Summary, , , ,
Client Name:,A Client, , ,
Client Number:,1234567, , ,
Valuation as at,09-08-2026 16:40, , ,

Trade date,Settle date,Reference,Description,Unit cost (p),Quantity,Value (£),
"04/04/2026","04/04/2026","MANAGE FEE","HL Fund & Share Account To A/C 01C","n/a","n/a","-4.05"
"09/03/2026","09/03/2026","INTEREST","Interest From 10/02/2026 TO 09/03/2026","n/a","n/a","3.87"
"25/02/2026","27/02/2026","S302087055","Foo Developed World ETF 1000 @  2500.00","2,500.000","1,000","24,988.05"
"24/02/2026","26/02/2026","B302087054","Foo Developed World ETF 4000 @  2000.00","2,000.000","4,000","-80,011.95"
"23/02/2026","23/02/2026","FPC","HL Fund & Share Account Receipt Pay By Bank","n/a","n/a","90,000.00"
"""

AJ_BELL = """\
\ufeffDate,Description,Reference,Settlement date,Receipt (GBP),Payment (GBP),Balance (GBP)
01/07/2025,BALANCE B/F *,-,-,,,1000.00
01/07/2026,Sale 40 VODAFONE GROUP ORD,-,-,36.00,,958.59
30/06/2026,Account charge for shares - Jun 2026 - A,-,-,,4.99,922.59
30/06/2026,Gross interest to 30/06/26,-,-,1.23,,927.58
03/07/2025,Dividend 100 VODAFONE GROUP ORD,-,-,3.20,,926.35
02/07/2025,Purchase 100 VODAFONE GROUP ORD,-,-,,-76.85,923.15
"""

INTERACTIVE_INVESTOR = """\
\ufeff\ufeffDate,Settlement Date,Symbol,Sedol,Quantity,Price,Description,Reference,Debit,Credit,Running Balance
26/06/2026,30/06/2026,BT.A,3091357,5168,£1.92422,5168 BT GROU  Del    1.92 S Date 30/06/26,R2,"£9,998.15",n/a,£4.00
03/04/2024,05/04/2024,VHYL,BK8VW75,10,45.50,VANGUARD FTSE ALLWLD HIGH DIVIDEND YIELD : 10 @ 45.50,B2404,462.95,,£1.00
30/12/2024,30/12/2024,VHYL,BK8VW75,n/a,n/a,"Div VANGUARD ALLWLD",R5,n/a,£41.36,£2.00
30/04/2024,30/04/2024,,,n/a,n/a,MONTHLY SERVICE PLAN FEE,FEE0430,4.99,,1995.01
01/04/2024,01/04/2024,,,n/a,n/a,DEBIT CARD PAYMENT,TOPUP01,,"20,000.00","20,000.00"
"""

VANGUARD = """\
A Client's General investment

Cash Transactions

Date,Details,Amount,Balance
08/03/2022,Deposit for investment purchases,15000,15000
09/03/2022,"Bought 1,550 Foo ETF Distributing (FOO)",-14982.06,17.94
01/04/2022,Cash Account Interest,0.41,18.35
07/04/2022,Account Fee for the period 08-Jan-2022 to 07-Apr-2022,-14.05,4.30
09/04/2022,DIV: FOO.XLON.GB @ GBP 0.4106,225.83,230.13
17/07/2022,Sold 50 Foo ETF Distributing (FOO),520.00,750.13
29/07/2022,Reversal of DIV: FOO.XLON.GB @ GBP 0.3106,-170.83,579.30
23/08/2022,Payment by Faster - One-off withdrawal Faster,-270.24,479.89
Balance,479.89
"""

FLEX = """\
<FlexQueryResponse queryName="q" type="AF"><FlexStatements count="1">
<FlexStatement accountId="U1" fromDate="20260101" toDate="20260131"><AccountInformation currency="GBP"/>
<Trades>
<Trade currency="USD" fxRateToBase="0.8" assetCategory="STK" symbol="AAPL" description="APPLE INC" isin="US0378331005"
 tradeDate="20260115" dateTime="20260115;103045" settleDateTarget="20260116" buySell="BUY" quantity="10"
 tradePrice="150.25" proceeds="-1502.5" taxes="0" ibCommission="-1.5" ibCommissionCurrency="USD" transactionID="101"
 addedLater="?"/>
<Trade currency="USD" assetCategory="CASH" symbol="GBP.USD" tradeDate="20260115" buySell="BUY" quantity="10"
 tradePrice="1.25"/>
</Trades>
<CashTransactions>
<CashTransaction currency="GBP" fxRateToBase="1" description="CASH RECEIPTS" dateTime="20260102" amount="3000"
 type="Deposits/Withdrawals" transactionID="104" levelOfDetail="DETAIL"/>
<CashTransaction currency="USD" fxRateToBase="0.79" symbol="AAPL" isin="US0378331005" dateTime="20260120"
 description="AAPL(US0378331005) CASH DIVIDEND USD 0.25 PER SHARE" settleDate="20260122" amount="2.5" type="Dividends"
 transactionID="102" levelOfDetail="DETAIL"/>
<CashTransaction currency="USD" symbol="AAPL" amount="2.5" type="Dividends" levelOfDetail="SUMMARY"/>
<CashTransaction currency="USD" fxRateToBase="0.79" symbol="AAPL" isin="US0378331005" description="AAPL US TAX"
 settleDate="20260122" amount="-0.38" type="Withholding Tax" transactionID="103" levelOfDetail="DETAIL"/>
</CashTransactions>
<CorporateActions>
<CorporateAction assetCategory="STK" symbol="AAPL" isin="US0378331005" currency="USD" dateTime="20260128;202500"
 description="AAPL(US0378331005) SPLIT 4 FOR 1 (AAPL, APPLE INC, US0378331005)" type="FS" quantity="30"
 transactionID="105"/>
</CorporateActions>
</FlexStatement></FlexStatements></FlexQueryResponse>
"""

FLEX_TRANSFERS = """\
<FlexQueryResponse queryName="q" type="AF"><FlexStatements count="1">
<FlexStatement accountId="U1" fromDate="20260101" toDate="20260131"><AccountInformation currency="GBP"/>
<Trades>
<Trade currency="USD" fxRateToBase="0.8" assetCategory="STK" symbol="AAPL" description="APPLE INC" isin="US0378331005"
 tradeDate="20260120" buySell="SELL" quantity="-4" tradePrice="200" proceeds="800" transactionID="203"/>
</Trades>
<Transfers>
<Transfer currency="USD" fxRateToBase="0.8" assetCategory="STK" symbol="AAPL" description="APPLE INC"
 isin="US0378331005" date="2026-01-10" type="ACATS" direction="IN" account="12345678" quantity="10" transferPrice="0"
 positionAmount="1900" positionAmountInBase="1520" cashTransfer="0" transactionID="201" levelOfDetail="TRANSFER"/>
<Transfer currency="USD" fxRateToBase="0.8" assetCategory="STK" symbol="AAPL" description="APPLE INC"
 isin="US0378331005" date="2026-01-25" type="FOP" direction="OUT" account="12345678" quantity="-3" transferPrice="0"
 positionAmount="-630" positionAmountInBase="-504" cashTransfer="0" transactionID="202" levelOfDetail="TRANSFER"/>
<Transfer currency="GBP" fxRateToBase="1" assetCategory="CASH" symbol="--" description="TRANSFER OUT" date="20260126"
 type="INTERNAL" direction="OUT" account="U2" quantity="0" cashTransfer="-100" transactionID="204"/>
<Transfer currency="USD" assetCategory="OPT" symbol="AAPL C200" date="20260126" type="ACATS" direction="IN" quantity="1"
 positionAmount="5" cashTransfer="0"/>
<Transfer levelOfDetail="TRANSFER"/>
</Transfers>
</FlexStatement></FlexStatements></FlexQueryResponse>
"""
