import { describe, expect, it, vi } from 'vitest'
import { ADMIN_TOKEN, type Answer, testGateway } from './support/gateway.ts'
import { shared } from './support/shared.ts'

const PATH = '/admin/quota/settings'

describe('patching settings', () => {
  const story = shared(async () => {
    const { send } = await testGateway()
    const read = (path: string): Promise<Answer> => send('GET', path, { token: ADMIN_TOKEN })
    const patch = (body: unknown, match?: string, type = 'application/merge-patch+json'): Promise<Answer> =>
      send('PATCH', PATH, {
        token: ADMIN_TOKEN,
        body,
        headers: { 'Content-Type': type, ...(match === undefined ? {} : { 'If-Match': match }) },
      })
    const etag = (await read(PATH)).headers.get('ETag') ?? ''
    const unconditional = await patch({ mode: 'lenient' })
    const both = await Promise.all([
      patch({ mode: 'lenient' }, etag),
      patch({ base: { personal: { read: { '1h': 7 } } } }, etag),
    ])
    const added = await patch({ base: { personal: { write: { '1h': 9 } } }, prices: { 'user.data': 3 } }, '*')
    const removed = await patch(
      { prices: null, custom: null, site: { multiplier: 2 } },
      added.headers.get('ETag') ?? '',
      'application/json',
    )
    const priced = await patch({ prices: { 'user.data': 2, 'user.music': 9 } }, '*')
    const faulty = await patch(
      { mode: 'fast', base: { personal: { read: { '1h': null } } }, prices: { nothing: 1 } },
      '*',
    )
    const malformed = [
      await patch([1], '*'),
      // The document has no such member.
      await patch({ layers: { site: { enabled: false } }, plans: {} }, '*'),
      await patch({ base: null, site: null, prices: [] }, '*'),
    ]
    const { body: last } = await read(PATH)
    await send('POST', '/admin/users/demo/balance', { token: ADMIN_TOKEN, body: { add: 1 } })
    return { read, unconditional, both, added, removed, priced, faulty, malformed, last }
  })

  it('a patch without If-Match gets 428', () => {
    expect(story().unconditional.status).toBe(428)
  })

  it('one of two patches of one state succeeds, and the other gets 412', () => {
    expect(
      story()
        .both.map(({ status }) => status)
        .sort(),
    ).toEqual([200, 412])
  })

  it('a patch changes a limit and adds a price', () => {
    expect(story().added.body).toMatchObject({
      version: 2,
      base: { personal: { write: { '1h': 9 } } },
      prices: { 'user.data': 3 },
    })
  })

  it('a patch with null removes members, and other members of an object stay', () => {
    expect(story().removed.body).toMatchObject({
      ...{ version: 3, prices: {}, custom: null },
      site: { enabled: true, multiplier: 2 },
    })
  })

  it('a patch doesn’t store a price that equals the default, so it follows later defaults', () => {
    expect(story().priced.body.prices).toEqual({ 'user.music': 9 })
  })

  it('a faulty patch gets 422 with the path of every fault', () => {
    const { status, body } = story().faulty
    expect([status, body.details.map((detail: { path: string }) => detail.path).sort()]).toEqual([
      422,
      ['base.personal.read.1h', 'mode', 'prices.nothing'],
    ])
  })

  it('a patch of another form gets 422', () => {
    expect(story().malformed.map(({ status }) => status)).toEqual([422, 422, 422])
  })

  it('rejected patches count no version', () => {
    expect(story().last).toMatchObject({ version: 4 })
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
    expect(seqs).toEqual([4, 3, 2, 1])
  })

  it('the audit trail rejects an unknown action', async () => {
    expect((await story().read('/admin/audit?action=x')).status).toBe(422)
  })

  it.each([
    ['a patch of whatever is stored keeps what another write stores meanwhile', '*', 200, 1_201],
    ['a patch of one state gets 412 if another write comes between', '"0"', 412, 1_200],
  ])('%s', async (_name, match, status, day) => {
    const { send, gateway } = await testGateway()
    const { settings } = gateway.app.quota
    const get = settings.get
    vi.spyOn(settings, 'get').mockImplementationOnce(async () => {
      const read = await get()
      await settings.update({ limits: { 'personal-read-5h': 401 } })
      return read
    })
    const body = { base: { personal: { read: { '1d': 1_201 } } } }
    const answer = await send('PATCH', PATH, { token: ADMIN_TOKEN, body, headers: { 'If-Match': match } })
    expect(answer.status).toBe(status)
    const stored = await send('GET', PATH, { token: ADMIN_TOKEN })
    expect(stored.body.base.personal.read).toEqual({ '1h': 120, '5h': 401, '1d': day })
  })
})
