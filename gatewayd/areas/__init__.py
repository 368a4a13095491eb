"""What customers store and read. Areas never import each other."""
