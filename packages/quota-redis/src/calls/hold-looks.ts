import type { Clock } from '@scoregw/quota'
import { Deadline } from '@scoregw/quota/store'
import { noAnswer, refusal, verdictOf } from '../line/errors.ts'
import type { Line, Reply } from '../line/line.ts'
import holdLook from '../lua/hold-look.lua'
import { scriptOf } from '../lua/script.ts'
import { callScript, type ScriptCall } from './delivery.ts'

/** Pause before a look is asked for again, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** What an index of holds shows. */
export interface HoldLook {
  /** The server's clock, epoch milliseconds. */
  readonly now: number
  /** What the keys of records have behind the prefix; the earliest end first. */
  readonly names: readonly string[]
  /** Holds in the index, those not settled yet included. */
  readonly size: number
}

type RawLook = readonly [now: Buffer, names: readonly Buffer[], size: number]

/**
 * Looks into an index of holds, for those that have ended or those that are open.
 *
 * @param most of the names
 * @throws {QuotaError} `store_error`
 */
export async function lookAtHolds(
  {
    line,
    deadlineMs,
    testClock,
  }: { readonly line: Line; readonly deadlineMs: number; readonly testClock: Clock | undefined },
  index: string,
  which: 'ended' | 'open',
  most: number,
): Promise<HoldLook> {
  const deadline = new Deadline(deadlineMs)
  const args = ['1', index, String(testClock?.now() ?? -1), which, String(most)]
  const call = { script: SCRIPT, args, deadline, onSend: () => undefined }
  try {
    const answered = await Promise.race([answerOf(line, call), deadline.settled])
    if (answered === undefined) throw noAnswer(deadlineMs, undefined)
    const [now, names, size] = answered as unknown as RawLook
    return { now: Number(now), names: names.map((name) => name.toString()), size }
  } finally {
    deadline.met()
  }
}

/** A look changes nothing: it is asked for again as long as that may help. */
async function answerOf(line: Line, call: ScriptCall): Promise<Reply> {
  for (;;) {
    try {
      return await callScript(line, call)
    } catch (error) {
      if (verdictOf(error) === 'refused' || call.deadline.isOver) throw refusal(error, 'Redis')
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
  }
}

const SCRIPT = scriptOf(holdLook)
