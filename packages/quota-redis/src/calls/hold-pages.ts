import type { Clock } from '@scoregw/quota'
import { Deadline } from '@scoregw/quota/store'
import type { Connection, Reply } from '../connection/connection.ts'
import { noAnswer, refusal, verdictOf } from '../connection/errors.ts'
import holdPage from '../lua/hold-page.lua'
import { scriptOf } from '../lua/script.ts'
import { callScript, type ScriptCall } from './delivery.ts'

/** Pause before a read is sent again, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** One page: holds of an index. */
export interface HoldPage {
  /** The server's clock, epoch milliseconds. */
  readonly now: number
  /** What the keys of records have behind the prefix; the earliest end first. */
  readonly names: readonly string[]
  /** Holds in the index, those not settled yet included. */
  readonly size: number
}

type RawPage = readonly [now: Buffer, names: readonly Buffer[], size: number]

/**
 * Reads an index of holds, for those that have ended or those that are open.
 *
 * @param most of the names
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

/** A read changes nothing: it is sent again as long as that may help. */
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
