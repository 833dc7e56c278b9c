import { connect } from 'node:net'
import { ENTRY, testGateway, USER_TOKEN } from './gateway.ts'
import { addCharts, scoresOf, uploadCalls } from './uploads.ts'

/** What was asked, and the answer's fields and bytes. */
export interface RecordedAnswer {
  readonly asked: string
  readonly head: readonly string[]
  readonly body: string
}

/** The status, and the fields that say something of a quota, or of its body. */
const ABOUT_QUOTA = /^(http\/|cache-control:|content-(type|length):|retry-after:|x-quota-reset:|ratelimit)/i

/** Sends a request over a connection of its own. */
async function bytesOf(
  baseUrl: string,
  method: string,
  path: string,
  { body, languages }: { readonly body?: unknown; readonly languages?: string } = {},
): Promise<RecordedAnswer> {
  const { hostname, port, host } = new URL(baseUrl)
  const sent = body === undefined ? '' : JSON.stringify(body)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    `Authorization: Bearer ${USER_TOKEN}`,
    ...(languages === undefined ? [] : [`Accept-Language: ${languages}`]),
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(sent)}`]),
  ]
  const socket = connect(Number(port), hostname)
  socket.write(`${lines.join('\r\n')}\r\n\r\n${sent}`)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const [first = '', ...rest] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  const head = first.split('\r\n').filter((line) => ABOUT_QUOTA.test(line))
  return { asked: [method, path, languages].filter(Boolean).join(' '), head, body: rest.join('') }
}

const UPSERT = '/v1/music/upsert'

/** What the gateway answers about its quota, to the byte. */
export async function recordedAnswers(): Promise<RecordedAnswer[]> {
  const answers: RecordedAnswer[] = []
  const gateway = await testGateway({ env: { SUPPORT_FORUM_URL: 'https://forum.example.com/more' } })
  const { gateway: served, clock, dataDir, send } = gateway
  const record = async (...[method, path, options]: [string, string, Parameters<typeof bytesOf>[3]?]): Promise<void> =>
    void answers.push(await bytesOf(served.addresses.gateway, method, path, options))
  addCharts(dataDir, 60)
  await record('GET', '/me/quota')
  for (let count = 0; count < 4; count++) {
    await send('POST', UPSERT, { body: { musicList: [{ ...ENTRY, dxScore: count }] } })
    clock.advance(1_500)
  }
  for (const languages of [undefined, 'zh-CN,zh;q=0.9']) {
    await record('POST', UPSERT, { body: { musicList: [ENTRY] }, ...(languages === undefined ? {} : { languages }) })
  }
  await record('GET', '/quota')
  const { create } = uploadCalls(send)
  const { sessionId } = (await create()).body.businessData
  for (const languages of [undefined, 'zh']) {
    const body = { sessionId, musicList: scoresOf(0, 1) }
    await record('POST', UPSERT, { body, ...(languages === undefined ? {} : { languages }) })
  }
  return answers
}
