try MappingBenchmark.run()
