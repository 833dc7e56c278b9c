import { type QuotaLogger, QuotaWarning } from '@scoregw/quota'

/** A channel that the Redis user may not use. Changes are still made, and other processes find them when they poll. */
export class ChannelRights {
  readonly #channel: string
  readonly #logger: QuotaLogger
  #isReported = false

  constructor(channel: string, logger: QuotaLogger) {
    this.#channel = channel
    this.#logger = logger
  }

  /** Logs a warning, once. */
  areMissing(reason: string): void {
    if (this.#isReported) return
    this.#isReported = true
    const text =
      'changes reach other processes only when they poll, within a second, because the Redis user may not use the ' +
      `channel ${this.#channel}. Grant it &${this.#channel} +publish +subscribe. Redis replied: ${reason}`
    this.#logger.warn(new QuotaWarning('no_channel_rights', text))
  }
}
