/** Misconfigurations the middleware finds; each has a paragraph in the guide. */
export type QuotaWarningCode =
  | 'created_in_handler'
  | 'mounted_twice'
  | 'property_taken'
  | 'untrusted_forwarded_for'
  | 'permissive_trust_proxy'
  | 'subject_not_text'

/** Where each code is explained. */
const DOCS_BASE = 'https://github.com/scoregw/quota/blob/main/docs/guide/express.md'

/** A misconfiguration: told to the logger, never thrown. */
export class QuotaWarning extends Error {
  override readonly name: string = 'QuotaWarning'
  readonly code: QuotaWarningCode
  /** Address of the page that explains `code`. */
  readonly docs: string

  constructor(code: QuotaWarningCode, message: string) {
    const docs = `${DOCS_BASE}#${code}`
    super(`${code}: ${message} (${docs})`)
    this.code = code
    this.docs = docs
  }
}

/** Who is told of trouble; the console is one. */
export interface QuotaLogger {
  /** A misconfiguration; each code once for each middleware. */
  warn(warning: QuotaWarning): void
  /** Tokens could not be settled: a `QuotaError`. The response goes out all the same. */
  error(error: unknown): void
}

/** Tells each misconfiguration once. */
export class Warnings {
  readonly #logger: QuotaLogger
  readonly #validate: boolean
  readonly #told = new Set<QuotaWarningCode>()

  constructor(logger: QuotaLogger, validate: boolean) {
    this.#logger = logger
    this.#validate = validate
  }

  tell(code: QuotaWarningCode, message: string): void {
    if (!this.#validate || this.#told.has(code)) return
    this.#told.add(code)
    this.#logger.warn(new QuotaWarning(code, message))
  }
}
