import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, databaseOf, testGateway } from './support/gateway.ts'

interface Operation {
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> }
}
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const METHODS = ['get', 'put', 'post', 'delete'] as const

function resolved(schema: Schema, document: Document): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : resolved(document.components.schemas[name] as Schema, document)
}

/** The members of a body, whichever of its alternatives has them. */
function membersOf(schema: Schema, document: Document): readonly (readonly [string, Schema])[] {
  const own = resolved(schema, document)
  const members = [own, ...(own.anyOf ?? [])].flatMap((each) =>
    Object.entries(resolved(each, document).properties ?? {}),
  )
  return [...new Map(members)]
}

/** A value that is of none of a schema's types. */
function wrong(schema: Schema, document: Document): unknown {
  const own = resolved(schema, document)
  const types = [own, ...(own.anyOf ?? []).map((each) => resolved(each, document))].flatMap(({ type }) => type ?? [])
  return types.includes('array') ? 'wrong' : ['wrong']
}

describe('administrators’ paths', () => {
  it('every path of administrators requires the role and names every fault of a body', async () => {
    const { send, dataDir } = await testGateway()
    const admin = { token: ADMIN_TOKEN }
    const bot = (await send('POST', '/admin/bots', { ...admin, body: { name: 'bot' } })).body.token
    const key = (await send('POST', '/admin/chart-keys', { ...admin, body: { name: 'key' } })).body.token
    const document: Document = (await send('GET', '/openapi.json', { token: null })).body
    const operations = Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/admin/'))
      .flatMap(([path, item]) =>
        METHODS.flatMap((method) => (item[method] ? [[path, method, item[method]] as const] : [])),
      )
    expect(operations.length).toBeGreaterThanOrEqual(20)
    const before = databaseOf(dataDir)

    for (const [template, method, { requestBody }] of operations) {
      const path = template.replaceAll(/\{\w+\}/g, 'demo')
      const name = `${method} ${path}`
      const statusWith = async (options: Parameters<typeof send>[2]): Promise<number> =>
        (await send(method.toUpperCase(), path, options)).status
      expect(await statusWith({ token: null }), name).toBe(401)
      expect(await statusWith({}), name).toBe(403)
      for (const token of [bot, key, 'gw_nobody', 'x.y.z']) expect(await statusWith({ token }), name).toBe(401)
      for (const headers of [{ 'Bot-Token': bot }, { 'X-API-Key': key }, { Authorization: ADMIN_TOKEN }]) {
        expect(await statusWith({ token: null, headers }), name).toBe(401)
      }
      if (requestBody === undefined) continue

      expect(await statusWith({ ...admin, text: '{' }), name).toBe(400)
      expect(await statusWith({ ...admin, text: '{}', headers: { 'Content-Type': 'text/plain' } }), name).toBe(415)
      expect(await statusWith({ ...admin, body: ['x'] }), name).toBe(422)
      const members = membersOf(Object.values(requestBody.content)[0]?.schema as Schema, document)
      expect(members.length, name).toBeGreaterThan(0)
      const faulty = { ...Object.fromEntries(members.map(([each, type]) => [each, wrong(type, document)])), zz: 1 }
      const answer = await send(method.toUpperCase(), path, { ...admin, body: faulty, headers: { 'If-Match': '*' } })
      expect([answer.status, answer.body.error], name).toEqual([422, 'validation_failed'])
      const paths = new Set(answer.body.details.map(({ path: at }: { path: string }) => at))
      for (const each of Object.keys(faulty)) expect(paths, name).toContain(each)
    }
    expect(databaseOf(dataDir)).toEqual(before)
  })
})
