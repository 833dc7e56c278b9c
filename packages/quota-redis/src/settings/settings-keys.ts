/**
 * The names of the keys that hold settings. All begin with `{prefix}`, so that they share a slot with the counters.
 *
 * | key | holds |
 * |---|---|
 * | `{prefix}:settings` | the settings: revision, version and JSON, with a space between; or a revision announced |
 * | `{prefix}:settings:changes` | the last change, of settings or subjects, as random text; also the channel's name |
 * | `{prefix}:subject:<layer>:<key>` | one subject's settings, likewise; only the version after they are removed |
 */
export class SettingsKeys {
  readonly settings: string
  readonly changes: string
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = `{${prefix}}`
    this.settings = `${this.#prefix}:settings`
    this.changes = `${this.#prefix}:settings:changes`
  }

  subject(layer: string, key: string): string {
    return `${this.#prefix}:subject:${encode(layer)}:${encode(key)}`
  }
}

/**
 * Text without a colon, different for different text. Lone surrogates, which UTF-8 cannot express, become hexadecimal
 * after a `$`; other text never begins with one.
 */
function encode(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return `$${Buffer.from(text, 'utf16le').toString('hex')}`
  }
}
