import { QuotaWarning } from '../errors/quota-warning.ts'
import type { QuotaLogger } from '../options/logger.ts'

/** Codes of misconfigurations that adapters detect. The warnings page explains each. */
export const QUOTA_WARNING_CODES = [
  'mounted_twice',
  'property_taken',
  'untrusted_forwarded_for',
  'permissive_trust_proxy',
  'subject_not_text',
  'unreadable_address',
  'raw_ipv6_subject',
] as const
export type QuotaWarningCode = (typeof QUOTA_WARNING_CODES)[number]

/** Which misconfigurations to detect: all, none, or all except those that are `false`. */
export type ValidateOption = boolean | Readonly<Partial<Record<QuotaWarningCode, boolean>>>

/** Logs each misconfiguration once. */
export class Warnings {
  readonly #logger: QuotaLogger
  readonly #validate: ValidateOption
  readonly #reported = new Set<QuotaWarningCode>()

  constructor(logger: QuotaLogger, validate: ValidateOption) {
    this.#logger = logger
    this.#validate = validate
  }

  warnOnce(code: QuotaWarningCode, message: string): void {
    if (!this.isOpen(code)) return
    this.#reported.add(code)
    this.#logger.warn(new QuotaWarning(code, message))
  }

  /** Whether a warning would be logged. */
  isOpen(code: QuotaWarningCode): boolean {
    return this.#looksFor(code) && !this.#reported.has(code)
  }

  #looksFor(code: QuotaWarningCode): boolean {
    return typeof this.#validate === 'boolean' ? this.#validate : (this.#validate[code] ?? true)
  }
}
