import { once } from 'node:events'
import { createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { createQuota } from '@scoregw/quota'
import { expect, onTestFinished, test } from 'vitest'
import { chatServer, type Model, policy } from '../../code/stream-express.ts'
import { chatHandler } from '../../code/stream-fetch.ts'

type Listening = Pick<ReturnType<typeof createServer>, 'listen' | 'address' | 'close'>

async function served(server: Listening): Promise<number> {
  onTestFinished(() => {
    ;(server as Partial<ReturnType<typeof createServer>>).closeAllConnections?.()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

const SERVERS = [
  ['Express', (quota: Engine, model: Model) => createServer(chatServer(quota, model) as RequestListener)],
  [
    'fetch',
    (quota: Engine, model: Model) =>
      createAdaptorServer({ fetch: chatHandler(quota, model), overrideGlobalObjects: false }) as Listening,
  ],
] as const

type Engine = ReturnType<typeof engine>
const engine = () => createQuota({ policy })

/** Says three words, and then what it is asked to; hears when it is to stop. */
function speaker(rest: (signal: AbortSignal) => Promise<void>): {
  readonly model: Model
  readonly stopped: Promise<void>
} {
  let stop = (): void => undefined
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  return {
    stopped,
    async *model(signal) {
      signal.addEventListener('abort', stop)
      yield* ['to', 'be', 'or']
      await rest(signal)
      yield 'not'
    },
  }
}

async function untilSettled(quota: Engine): Promise<void> {
  while ((await quota.holds.list('ada')).length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
}

const used = async (quota: Engine) => (await quota.status('ada')).limits.perHour?.used

test.each(SERVERS)('%s: a chat is charged its actual cost', async (_, serve) => {
  const quota = engine()
  const port = await served(serve(quota, speaker(async () => undefined).model))
  const answer = await fetch(`http://127.0.0.1:${port}/chat`, { method: 'POST', headers: { 'x-user': 'ada' } })
  expect(await answer.text()).toBe('to be or not ')
  expect(await used(quota)).toBe(4)
})

test.each(SERVERS)('%s: a chat whose client disconnects is charged what was streamed so far', async (_, serve) => {
  const quota = engine()
  const silent = speaker((signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', reject)))
  const port = await served(serve(quota, silent.model))
  const asked = request({ port, host: '127.0.0.1', path: '/chat', method: 'POST', headers: { 'x-user': 'ada' } })
  asked.end()
  const [answer] = (await once(asked, 'response')) as [NodeJS.ReadableStream]
  let heard = ''
  for await (const chunk of answer) {
    heard += String(chunk)
    if (heard === 'to be or ') break
  }
  expect(await used(quota)).toBe(1_000)
  asked.destroy()
  await silent.stopped
  await untilSettled(quota)
  expect(await used(quota)).toBe(3)
})
