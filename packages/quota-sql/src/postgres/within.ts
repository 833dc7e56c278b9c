import { refusedOptions } from '@scoregw/quota/options'
import { notDone } from '@scoregw/quota/store'
import { CompiledQuery } from 'kysely'
import type { Ask } from '../step/counters.ts'
import { operationOf } from '../step/operation.ts'
import { type DecisionParts, decideOn } from './decide.ts'
import { isBetween, refusal } from './errors.ts'
import { inTurn } from './in-turn.ts'
import type { Row, StepSession } from './session.ts'
import type { PostgresStatements } from './statements.ts'
import { keepLayouts, write } from './transaction.ts'

/** The part of kysely's `Transaction` that is used. */
interface KyselyTransaction {
  readonly isTransaction: boolean
  executeQuery(query: CompiledQuery): Promise<{ readonly rows: unknown[] }>
}

/** How often a step is made anew since another process came between. */
const MAX_TRIES = 10

/**
 * Carries out work as a part of a transaction, behind a savepoint: what fails leaves the transaction as it was.
 *
 * @throws {QuotaError} `invalid_options` for what is no transaction
 */
export function askWithin(transaction: unknown, statements: PostgresStatements, parts: DecisionParts): Ask {
  if (!isTransaction(transaction)) {
    throw refusedOptions('within()', [{ path: '', message: "expected a transaction, kysely's Transaction" }])
  }
  return (work) =>
    inTurn(
      transaction,
      () =>
        new Promise<Awaited<ReturnType<typeof work.decide>>>((resolve, reject) => {
          const operation = operationOf(work, { resolve: resolve as (value: unknown) => void, reject })
          stepIn(new Savepoint(transaction, statements), operation, parts).then(
            () => operation.done(),
            (error: unknown) => operation.fail(error),
          )
        }),
    )
}

async function stepIn(
  session: Savepoint,
  operation: Parameters<typeof decideOn>[1][number],
  parts: DecisionParts,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      const { changes } = await decideOn(session, [operation], parts)
      // Whether they are stored is known when the caller's transaction has ended, so not here.
      await keepLayouts(session, changes, parts.layouts)
      await write(session, changes)
      await session.commit()
      return
    } catch (error) {
      await session.rollback()
      if (!isBetween(error) || tries === MAX_TRIES) throw notDone(refusal(error))
    }
  }
}

/** A part of a transaction. */
class Savepoint implements StepSession {
  readonly #transaction: KyselyTransaction
  readonly #statements: PostgresStatements
  #last: Promise<unknown> = Promise.resolve()

  constructor(transaction: KyselyTransaction, statements: PostgresStatements) {
    this.#transaction = transaction
    this.#statements = statements
  }

  async run(statement: keyof PostgresStatements, values: unknown[]): Promise<readonly Row[]> {
    const rows = await this.#send(this.#statements[statement], values)
    return rows.map((row) => Object.values(row as object))
  }

  begin(): Promise<unknown> {
    return this.#send('savepoint quota')
  }

  async commit(): Promise<boolean> {
    await this.#send('release savepoint quota')
    return true
  }

  rollback(): Promise<unknown> {
    return this.#send('rollback to savepoint quota')
  }

  together<T>(work: () => T): T {
    return work()
  }

  #send(text: string, values: unknown[] = []): Promise<unknown[]> {
    const sent = this.#last.then(() => this.#transaction.executeQuery(CompiledQuery.raw(text, values)))
    this.#last = sent.catch(() => undefined)
    return sent.then(({ rows }) => rows)
  }
}

function isTransaction(value: unknown): value is KyselyTransaction {
  return (
    typeof value === 'object' &&
    value !== null &&
    'executeQuery' in value &&
    'isTransaction' in value &&
    value.isTransaction === true
  )
}
