import type { Clock } from '@scoregw/quota'
import { Deadline } from '@scoregw/quota/store'
import type { Connection, Reply } from '../connection/connection.ts'
import { noAnswer, refusal, verdictOf } from '../connection/errors.ts'
import holdPage from '../lua/hold-page.lua'
import { scriptOf } from '../lua/script.ts'
import { callScript, type ScriptCall } from './delivery.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout } = globalThis

/** The pause before a read is repeated, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** One page of an index of holds. */
export interface HoldPage {
  /** The server's clock, epoch milliseconds. */
  readonly now: number
  /** The ends of the records' keys, after the prefix; earliest end first. */
  readonly names: readonly string[]
  /** How many holds the index contains, unsettled ones included. */
  readonly size: number
}

type RawPage = readonly [now: Buffer, names: readonly Buffer[], size: number]

/**
 * Reads an index of holds: those that have expired, or those that are open.
 *
 * @param most names
 * @throws {QuotaError} `store_error`
 */
export async function readHoldPage(
  {
    connection,
    deadlineMs,
    testClock,
  }: { readonly connection: Connection; readonly deadlineMs: number; readonly testClock: Clock | undefined },
  index: string,
  which: 'ended' | 'open',
  most: number,
): Promise<HoldPage> {
  const deadline = new Deadline(deadlineMs)
  const args = ['1', index, String(testClock?.now() ?? -1), which, String(most)]
  const call = { script: SCRIPT, args, deadline, onSend: () => undefined }
  try {
    const answered = await Promise.race([answerOf(connection, call), deadline.settled])
    if (answered === undefined) throw noAnswer(deadlineMs, undefined)
    const [now, names, size] = answered as unknown as RawPage
    return { now: Number(now), names: names.map((name) => name.toString()), size }
  } finally {
    deadline.met()
  }
}

/** A read changes nothing, so it is repeated as long as that may help. */
async function answerOf(connection: Connection, call: ScriptCall): Promise<Reply> {
  for (;;) {
    try {
      return await callScript(connection, call)
    } catch (error) {
      if (verdictOf(error) === 'refused' || call.deadline.isOver) throw refusal(error, 'Redis')
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
  }
}

const SCRIPT = scriptOf(holdPage)
