/**
 * The names of the keys that hold settings. All begin with `{prefix}`, so that they share a slot with the counters.
 *
 * | key | holds |
 * |---|---|
 * | `{prefix}:settings` | the settings, as JSON |
 * | `{prefix}:settings:version` | their version, a decimal number; the decision script reads it |
 * | `{prefix}:settings:changes` | how many changes there were, of settings or subjects; also the channel's name |
 * | `{prefix}:subject:<layer>:<key>` | one subject's settings, as JSON; absent when removed |
 * | `{prefix}:subject:<layer>:<key>:version` | their last version, kept when they are removed |
 */
export class SettingsKeys {
  readonly settings: DocumentKeys
  readonly changes: string
  readonly #prefix: string

  constructor(prefix: string) {
    this.#prefix = `{${prefix}}`
    this.settings = documentKeys(`${this.#prefix}:settings`)
    this.changes = `${this.#prefix}:settings:changes`
  }

  subject(layer: string, key: string): DocumentKeys {
    return documentKeys(`${this.#prefix}:subject:${encode(layer)}:${encode(key)}`)
  }
}

/** Where one document is, and its version. */
export interface DocumentKeys {
  readonly document: string
  readonly version: string
}

function documentKeys(document: string): DocumentKeys {
  return { document, version: `${document}:version` }
}

/**
 * Text without a colon, different for different text. Lone surrogates, which UTF-8 cannot hold, go as hexadecimal
 * behind a `$`, which other text never begins with.
 */
function encode(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return `$${Buffer.from(text, 'utf16le').toString('hex')}`
  }
}
