// Only the diagnostics on SIL find this one.
func canary() -> Int {
  let value: Int
  return value
}
