"""What is wrong with a spec: classes of errors, findings and their safe fixes."""
