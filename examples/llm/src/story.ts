import type { ChildProcess } from 'node:child_process'

/** The one window of the user's quota, as `/me/quota` tells it. */
interface Usage {
  readonly limit: number
  readonly used: number
  readonly remaining: number
  readonly held?: number
}

/** What came of the story, in the order in which it happened. */
export interface Story {
  readonly started: number
  readonly refused: number
  readonly whileAllSpeak: Usage
  /** When all have ended but the one that was killed. */
  readonly afterTheLong: Usage
  /** Milliseconds from the kill until the tokens were back. */
  readonly backAfterMs: number
  readonly inTheEnd: Usage
}

const TIMEOUT_MS = 30_000

/**
 * Twenty chats of one user at once, each reserving 75 of 500 tokens. One of those that start costs 300, and one is killed.
 *
 * @param models those at work, so that one can be killed
 */
export async function playStory(
  url: string,
  models: ReadonlySet<ChildProcess>,
  tell: (line: string) => void,
): Promise<Story> {
  const headers = { 'x-user': 'ada' }
  const usage = async (): Promise<Usage> => {
    const response = await fetch(`${url}/me/quota`, { headers })
    const { windows } = (await response.json()) as { readonly windows: { readonly chat: readonly [Usage] } }
    return windows.chat[0]
  }
  const shown = ({ used, limit, held = 0 }: Usage): string => `${used} of ${limit} tokens used, ${held} of them held`

  // The first costs four times what it reserved; a model that would speak for ever is the one to be killed.
  const wordsOf = (chat: number): number => [300, 1_000_000][chat] ?? 75
  const chats = await Promise.all(
    Array.from({ length: 20 }, (_, chat) => fetch(`${url}/chat?words=${wordsOf(chat)}`, { method: 'POST', headers })),
  )
  const started = chats.filter(({ status }) => status === 200)
  const refused = chats.length - started.length
  tell(`20 chats at once: ${started.length} start, ${refused} are told to wait`)
  const whileAllSpeak = await usage()
  tell(shown(whileAllSpeak))

  // All but the killed one end by themselves.
  const ended = Promise.allSettled(started.map((response) => response.text()))
  const killed = await longestAtWork(models)
  killed.kill('SIGKILL')
  const killedAt = performance.now()
  tell('the model of one of them is killed')
  await ended
  const afterTheLong = await usage()
  tell(`the others have ended, one of them at 300 tokens: ${shown(afterTheLong)}`)
  const inTheEnd = await until(usage, ({ held = 0 }) => held === 0)
  const backAfterMs = performance.now() - killedAt
  tell(`the tokens of the killed one are back: ${shown(inTheEnd)}`)
  tell(`${inTheEnd.used - inTheEnd.limit} tokens of debt: the next chat waits for the window's end`)
  return { started: started.length, refused, whileAllSpeak, afterTheLong, backAfterMs, inTheEnd }
}

/** The only model left when all others have ended. */
async function longestAtWork(models: ReadonlySet<ChildProcess>): Promise<ChildProcess> {
  const [last] = await until(
    async () => [...models],
    ({ length }) => length === 1,
  )
  if (last === undefined) throw new Error('no model is at work')
  return last
}

async function until<T>(look: () => Promise<T>, isIt: (seen: T) => boolean): Promise<T> {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    const seen = await look()
    if (isIt(seen)) return seen
    if (performance.now() > deadline) throw new Error(`not within ${TIMEOUT_MS} ms: ${JSON.stringify(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
