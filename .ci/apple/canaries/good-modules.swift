// The branches that are compiled are Apple's: each of these is a module of a stub.
#if !canImport(Combine) || !canImport(Observation) || !canImport(os) || !canImport(Darwin)
#error("a module of Apple's is missing")
#endif
#if !canImport(SQLite3) || !canImport(Foundation) || !canImport(Dispatch)
#error("a module of Apple's is missing")
#endif
#if !canImport(CloudKit) || !canImport(CoreLocation)
#error("a module of Apple's is missing")
#endif
#if canImport(FoundationEssentials) || canImport(Glibc) || canImport(CSQLite)
#error("a module of another system can be seen")
#endif
