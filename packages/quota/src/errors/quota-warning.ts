/** The page that explains each code. */
const DOCS = 'https://github.com/scoregw/quota/blob/main/docs/reference/warnings.md'

/** A misconfiguration. It is logged, never thrown. */
export class QuotaWarning<Code extends string = string> extends Error {
  override readonly name: string = 'QuotaWarning'
  readonly code: Code
  /** The address of the paragraph that explains `code`. */
  readonly docs: string

  constructor(code: Code, message: string) {
    const docs = `${DOCS}#${code}`
    super(`${code}: ${message} (${docs})`)
    this.code = code
    this.docs = docs
  }
}
