/** The configuration is not usable; the message names every fault, never a value, since values may be secrets. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError'

  constructor(faults: readonly string[], options?: ErrorOptions) {
    super(`The configuration has faults:\n  ${faults.join('\n  ')}`, options)
  }
}
