try WireFigures.run()
