import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import { documentOf } from './support/documents.ts'
import { ADMIN_TOKEN, testGateway, USER_TOKEN } from './support/gateway.ts'
import type { Json } from './support/json-schema.ts'

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly description: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly { name: string; in: string; required: boolean }[]
  readonly requestBody?: { required: boolean; content: Record<string, { example?: unknown }> }
  readonly responses: Record<string, { $ref?: string }>
}

const document = await documentOf('gateway')
const paths = document.paths as Record<string, Record<string, Operation>>
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
)

async function problemsOf(source: string): Promise<unknown[]> {
  const config = await createConfig({ extends: ['recommended'], rules: { 'info-contact': 'error' } })
  const problems = await lintFromString({ source, config })
  return problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])
}

describe('the gateway’s OpenAPI document', () => {
  it('the document passes a public linter’s recommended rules, which detects a wrong example', async () => {
    expect(await problemsOf(JSON.stringify(document))).toEqual([])
    const broken = JSON.stringify(document).replace('"musicId":10106', '"musicId":"10106"')
    expect(await problemsOf(broken)).toMatchObject([
      ['no-invalid-media-type-examples', expect.anything(), expect.anything()],
    ])
  })

  it('the document is public, free, and has the address that clients use', async () => {
    const { send, log } = await testGateway({ env: { PUBLIC_BASE_URL: 'https://scores.example.com/api' } })
    const { status, body, headers } = await send('GET', '/openapi.json', { token: null })
    expect([status, headers.get('Cache-Control')]).toEqual([200, 'no-cache'])
    expect(body.servers).toEqual([{ url: 'https://scores.example.com/api' }])
    expect({ ...body, servers: document.servers }).toEqual(document)
    expect(log.join('')).not.toContain('"level":50')
  })

  it('each specified operation has its tag, price and category', () => {
    expect(paths['/v1/music/upsert']?.post).toMatchObject({ operationId: 'upsertMusic', tags: ['Score'] })
    expect(paths['/v1/music/delete']?.post).toMatchObject({ operationId: 'deleteMusic', tags: ['Score'] })
    expect(paths['/v1/music/upsert']?.post?.description).toContain('Costs 15 **write** tokens')
    expect(paths['/v1/user/music']?.post?.description).toContain('Costs 4 **read** tokens')
    expect(paths['/me/quota']?.get?.description).toContain('Free.')
    const match = paths['/admin/quota/settings']?.put?.parameters?.find(({ name }) => name === 'If-Match')
    expect(match).toMatchObject({ in: 'header', required: true })
  })

  it('each operation has what follows from its form', () => {
    for (const { path, method, security, requestBody, responses, parameters = [], description } of operations) {
      const statuses = Object.keys(responses)
      const expected = [
        ...(security === undefined ? ['401'] : []),
        ...(path.startsWith('/admin') ? ['403'] : []),
        ...(parameters.some((each) => each.in === 'path') ? ['404'] : []),
        ...(parameters.some((each) => each.name === 'If-Match') ? ['412'] : []),
        ...(requestBody === undefined ? [] : ['400', '413', '415', '422']),
        ...(description.includes('tokens') && description.includes('Costs') ? ['429', '503'] : []),
        '500',
        '503',
      ]
      expect(statuses, `${method} ${path}`).toEqual(expect.arrayContaining(expected))
      expect(description.length, `${method} ${path}: its purpose`).toBeGreaterThan('Free.'.length)
    }
  })

  it('the 429 is described as specified', () => {
    const { schemas, responses } = document.components as Record<'schemas' | 'responses', Record<string, Json>>
    const { required, properties } = schemas.QuotaExceeded as unknown as {
      required: string[]
      properties: { error: object; quota: { required: string[] } }
    }
    expect(required).toEqual(['error', 'msg', 'retryAfterSeconds', 'quota'])
    expect(properties.error).toMatchObject({ const: 'quota_exceeded' })
    expect(properties.quota.required).toEqual(
      'scope category window limit used requested resetAt retryAtBeijing timeZone retryAt windowLabel'.split(' '),
    )
    const fields = Object.keys(responses.QuotaExceeded?.headers ?? {})
    expect(fields).toEqual(['X-Request-Id', 'Retry-After', 'X-Quota-Reset', 'RateLimit', 'RateLimit-Policy'])
    expect(paths['/v1/charge']?.post?.responses['429']).toEqual({ $ref: '#/components/responses/QuotaExceeded' })
    // What costs nothing is refused by no quota.
    expect(paths['/me/quota']?.get?.responses['429']).toBeUndefined()
  })

  it('every body has an example, and each works with the demo’s data', async () => {
    const { send } = await testGateway({
      env: { LXNS_BASE_URL: 'http://127.0.0.1:9', FISH_BASE_URL: 'http://127.0.0.1:9' },
    })
    const results: unknown[] = []
    // Two kinds of examples name something which nobody can know: a session, and an issued credential.
    const issuedPath = async (path: string): Promise<string> => {
      const [issuing = '', isRotation] = path.split(/\/\{\w+\}(\/rotate)$/)
      if (isRotation === undefined) return path
      const body = issuing.includes('users') ? { label: 'x' } : { name: 'x' }
      const issued = await send('POST', issuing.replace('{id}', 'demo'), { token: ADMIN_TOKEN, body })
      return `${issuing}/${issued.body.id}/rotate`
    }
    const session = await send('POST', '/v1/upsert/session', { body: {} })
    const begun = { sessionId: session.body.businessData.sessionId }
    for (const { path, method, requestBody } of operations) {
      if (requestBody === undefined) continue
      const { example } = requestBody.content['application/json'] ?? {}
      const token = path.startsWith('/admin') ? ADMIN_TOKEN : USER_TOKEN
      const enough = { overrides: { write: { '1h': 1_000, '5h': 1_000, '1d': 1_000 } } }
      await send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: enough })
      const headers: Record<string, string> = path === '/admin/quota/settings' ? { 'If-Match': '*' } : {}
      const { status, body } = await send(method, (await issuedPath(path)).replaceAll(/\{\w+\}/g, 'demo'), {
        token,
        headers,
        body: path === '/v1/upsert/check' ? begun : example,
      })
      // A score source that is not there is as far as an invented credential can come.
      const isGood = status < 300 || (path.startsWith('/v1/update-') && status === 502)
      if (example === undefined || !isGood) results.push([method, path, example, status, body])
    }
    expect(results).toEqual([])
  })
})

describe('OpenAPI documents of the other services', () => {
  it.each(['sync', 'charts'] as const)('the document passes the linter’s rules: %s', async (service) => {
    expect(await problemsOf(JSON.stringify(await documentOf(service)))).toEqual([])
  })
})

describe('what generators of clients can read', () => {
  it('no pattern needs the flag u, no enum of several types has a type, and every operation may be a 400', async () => {
    const { send } = await testGateway()
    const { body } = await send('GET', '/openapi.json', { token: null })
    const text = JSON.stringify(body)
    expect(text).not.toMatch(/"pattern":"[^"]*\\\\[pu]\{/)
    expect(text).not.toMatch(/"type":\["string","number"\],"enum"/)
    expect(body.components.schemas.BuyTicketBody.anyOf).toHaveLength(2)
    const operations = Object.values(body.paths).flatMap((path) => Object.values(path as object))
    expect(operations.filter(({ responses }) => responses['400'] === undefined)).toEqual([])
  })
})
