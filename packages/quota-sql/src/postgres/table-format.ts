import { checkFormat } from '../schema/tables.ts'
import type { StepSession } from './session.ts'

/** The version of a store's tables. It is read once, before anything else. */
export class TableFormat {
  #isKnown = false

  get isKnown(): boolean {
    return this.#isKnown
  }

  /** @throws {QuotaError} `other_version`; it is read again next time */
  async check(session: Pick<StepSession, 'run' | 'statements'>): Promise<void> {
    const [[version] = []] = await session.run(session.statements.format, [])
    this.found(version)
  }

  /** @throws {QuotaError} `other_version` */
  found(version: unknown): void {
    checkFormat(Number(version))
    this.#isKnown = true
  }
}
