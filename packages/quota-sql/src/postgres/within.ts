import { refusedOptions } from '@scoregw/quota/internal'
import { notDone } from '@scoregw/quota/store'
import { CompiledQuery } from 'kysely'
import { postgresTransaction, type Transacted } from '../schema/kysely.ts'
import type { Perform } from '../step/counters.ts'
import { type Operation, operationOf } from '../step/operation.ts'
import { isBetween, refusal } from './errors.ts'
import { allOf, inOrder, type StepSession, type TableFormat } from './session.ts'
import type { PostgresStatements } from './statements.ts'
import { type DecisionDeps, decideOn, write } from './transaction.ts'

interface WithinDeps extends DecisionDeps {
  readonly statements: PostgresStatements
  readonly format: TableFormat
}

/** How often a step is repeated if other processes interfere. */
const MAX_TRIES = 10

/**
 * Carries out work as a part of a transaction, behind a savepoint. If it fails, the transaction is as before.
 *
 * @throws {QuotaError} `invalid_options` if the value isn't a transaction
 */
export function performWithin(transaction: unknown, deps: WithinDeps): Perform {
  const queries = postgresTransaction(transaction)
  if (queries === undefined) {
    const message =
      "expected an open transaction: kysely's Transaction, a client of pg after BEGIN, or an object with query(text, values)"
    throw refusedOptions('inTransaction()', [{ path: '', message }])
  }
  const session = savepoints(queries, deps.statements)
  return (work) =>
    new Promise((resolve, reject) => {
      const operation = operationOf(work, resolve, reject)
      void inOrder(Object(transaction), () => stepIn(session, operation, deps).catch((error) => operation.fail(error)))
    })
}

async function stepIn(session: StepSession, operation: Operation, deps: WithinDeps): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      if (!deps.format.isKnown) await checkFormatIn(session, deps.format)
      // The layouts are stored only once the caller's transaction has committed, so they are not remembered here.
      const { changes } = await decideOn(session, [operation], deps)
      if (changes === undefined) await session.rollback()
      else await allOf([write(session, changes), session.commit()])
      return operation.done()
    } catch (error) {
      await session.rollback()
      if (!isBetween(error) || tries === MAX_TRIES) throw notDone(refusal(error))
    }
  }
}

async function checkFormatIn(session: StepSession, format: TableFormat): Promise<void> {
  await session.begin()
  await format.check(session)
  await session.commit()
}

/** The steps in one transaction, one after the other. */
function savepoints(transaction: Transacted, statements: PostgresStatements): StepSession {
  let last: Promise<unknown> = Promise.resolve()
  const send = (text: string, values: unknown[] = []): Promise<{ readonly rows: unknown[] }> => {
    const sent = last.then(() => transaction.executeQuery(CompiledQuery.raw(text, values)))
    last = sent.catch(() => undefined)
    return sent
  }
  return {
    statements,
    run: async ({ text }, values) => {
      const { rows } = await send(text, values)
      return rows.map((row) => Object.values(row as object))
    },
    begin: () => send('savepoint quota'),
    commit: () => send('release savepoint quota'),
    rollback: () => send('rollback to savepoint quota'),
    together: (work) => work(),
  }
}
