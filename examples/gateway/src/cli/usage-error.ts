/** The command line does not say what to do, or what it says cannot be done. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError'
}
