// An `Int` of 32 bits holds no more than 2,147,483,647.
func canary() -> Int { 3_000_000_000 }
