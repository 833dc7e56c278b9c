import { describe, expect, it, vi } from 'vitest'
import { ADMIN_TOKEN, type Answer, testGateway } from './support/gateway.ts'
import { shared } from './support/shared.ts'

const PATH = '/admin/quota/settings'

async function settingsOf(gateway: Awaited<ReturnType<typeof testGateway>>) {
  const read = (path: string): Promise<Answer> => gateway.send('GET', path, { token: ADMIN_TOKEN })
  const { body, headers } = await read(PATH)
  const { version: _, ...document } = body
  const put = (change: object, match?: string): Promise<Answer> =>
    gateway.send('PUT', PATH, {
      token: ADMIN_TOKEN,
      body: { ...document, ...change },
      headers: match === undefined ? {} : { 'If-Match': match },
    })
  return { read, put, document, etag: headers.get('ETag') ?? '' }
}

describe('writing settings', () => {
  const story = shared(async () => {
    const gateway = await testGateway()
    const { read, put, document, etag } = await settingsOf(gateway)
    const unconditional = await put({ mode: 'lenient' })
    const both = await Promise.all([
      put({ mode: 'lenient' }, etag),
      put({ site: { enabled: true, multiplier: 2 } }, etag),
    ])
    const priced = await put({ prices: { 'user.data': 2, 'user.music': 9 } }, '*')
    const personal = { ...document.base.personal, read: { ...document.base.personal.read, '1h': null } }
    const faulty = await put({ mode: 'fast', base: { ...document.base, personal }, prices: { nothing: 1 } }, '*')
    const malformed = [
      await put({ plans: {} }, '*'),
      await put({ base: null, site: null, prices: [] }, '*'),
      await put({ mode: 'custom' }, '*'),
    ]
    const again = await put({ mode: 'normal' }, priced.headers.get('ETag') ?? '')
    const { body: last } = await read(PATH)
    await gateway.send('POST', '/admin/users/demo/balance', { token: ADMIN_TOKEN, body: { add: 1 } })
    return { read, unconditional, both, priced, faulty, malformed, again, last }
  })

  it('a change without If-Match gets 428', () => {
    expect(story().unconditional.status).toBe(428)
  })

  it('one of two changes of one state succeeds, and the other gets 412', () => {
    const statuses = story().both.map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 412])
  })

  it('a price that equals the default isn’t stored, so it follows later defaults', () => {
    expect(story().priced.body.prices).toEqual({ 'user.music': 9 })
  })

  it('a faulty document gets 422 with the path of every fault', () => {
    const { status, body } = story().faulty
    expect([status, body.details.map((detail: { path: string }) => detail.path).sort()]).toEqual([
      422,
      ['base.personal.read.1h', 'mode', 'prices.nothing'],
    ])
  })

  it('a document of another form gets 422', () => {
    expect(story().malformed.map(({ status }) => status)).toEqual([422, 422, 422])
  })

  it('rejected documents count no version', () => {
    expect([story().again.body.version, story().last.version]).toEqual([3, 3])
  })

  it('the audit trail lists only settings changes by pages, whatever else was done', async () => {
    const seqs: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = `?action=settings.change&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`
      const { body } = await story().read(`/admin/audit${query}`)
      seqs.push(...body.items.map(({ seq }: { seq: number }) => seq))
      cursor = body.nextCursor
    }
    expect(seqs).toEqual([3, 2, 1])
  })

  it('the audit trail rejects an unknown action', async () => {
    expect((await story().read('/admin/audit?action=x')).status).toBe(422)
  })

  it.each([
    ['a change of whatever is stored replaces what another write stores meanwhile', '*', 200, 400],
    ['a change of one state gets 412 if another write comes between', '"0"', 412, 401],
  ])('%s', async (_name, match, status, stored) => {
    const gateway = await testGateway()
    const { put, read } = await settingsOf(gateway)
    const { settings } = gateway.gateway.app.quota
    const get = settings.get
    vi.spyOn(settings, 'get').mockImplementationOnce(async () => {
      const before = await get()
      await settings.update({ limits: { 'personal-read-5h': 401 } })
      return before
    })
    expect((await put({ mode: 'lenient' }, match)).status).toBe(status)
    expect((await read(PATH)).body.base.personal.read['5h']).toBe(stored)
  })
})
