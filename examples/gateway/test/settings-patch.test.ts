import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Answer, testGateway } from './support/gateway.ts'

describe('patching settings', () => {
  it('a patch changes the settings that it names, for callers who have read them', async () => {
    const { send } = await testGateway()
    const path = '/admin/quota/settings'
    const patch = (body: unknown, match?: string, type = 'application/merge-patch+json'): Promise<Answer> =>
      send('PATCH', path, {
        token: ADMIN_TOKEN,
        body,
        headers: { 'Content-Type': type, ...(match === undefined ? {} : { 'If-Match': match }) },
      })
    const first = await send('GET', path, { token: ADMIN_TOKEN })
    const etag = first.headers.get('ETag') ?? ''
    expect((await patch({ mode: 'lenient' })).status).toBe(428)
    const both = await Promise.all([
      patch({ mode: 'lenient' }, etag),
      patch({ base: { personal: { read: { '1h': 7 } } } }, etag),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
    const second = await patch(
      { plans: { pro: { personal: { write: { '1h': 9 } } } }, prices: { 'user.data': 3 } },
      '*',
    )
    expect(second.body).toMatchObject({ version: 2, plans: { pro: { personal: { write: { '1h': 9 } } } } })
    const third = await patch(
      { plans: { pro: null }, prices: null, custom: null, site: { multiplier: 2 } },
      second.headers.get('ETag') ?? '',
      'application/json',
    )
    expect(third.body).toMatchObject({
      ...{ version: 3, plans: {}, prices: {}, custom: null },
      site: { enabled: true, multiplier: 2 },
    })
    // A price that is the default follows later defaults: it is not stored.
    expect((await patch({ prices: { 'user.data': 2, 'user.music': 9 } }, '*')).body.prices).toEqual({ 'user.music': 9 })

    const refused = await patch({ mode: 'fast', base: { personal: { read: { '1h': null } } }, nothing: 1 }, '*')
    expect([refused.status, refused.body.details.map((detail: { path: string }) => detail.path).sort()]).toEqual([
      422,
      ['base.personal.read.1h', 'mode', 'nothing'],
    ])
    expect((await patch([1], '*')).status).toBe(422)
    // The document has no such member.
    expect((await patch({ layers: { site: { enabled: false } } }, '*')).status).toBe(422)
    expect((await patch({ base: null, site: null, prices: [] }, '*')).status).toBe(422)
    expect((await send('GET', path, { token: ADMIN_TOKEN })).body).toMatchObject({ version: 4 })

    // Entries of one kind, page by page, whatever else was done.
    await send('POST', '/admin/users/demo/balance', { token: ADMIN_TOKEN, body: { add: 1 } })
    const seqs: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = `?action=settings.change&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`
      const { body } = await send('GET', `/admin/audit${query}`, { token: ADMIN_TOKEN })
      seqs.push(...body.items.map(({ seq }: { seq: number }) => seq))
      cursor = body.nextCursor
    }
    expect(seqs).toEqual([4, 3, 2, 1])
    expect((await send('GET', '/admin/audit?action=x', { token: ADMIN_TOKEN })).status).toBe(422)
  })
})
