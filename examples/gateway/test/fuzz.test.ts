import { join } from 'node:path'
import * as fc from 'fast-check'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { limitsIn } from '../src/quota/names.ts'
import { arbitraryOf, type JsonValue, nearly } from './support/arbitrary-of-schema.ts'
import { documentOf } from './support/documents.ts'
import { ADMIN_TOKEN, type Answer, databaseOf, type TestGateway, testGateway, USER_TOKEN } from './support/gateway.ts'
import type { Json } from './support/json-schema.ts'

const IS_DEEP = process.env.QUOTA_TEST_DEEP === '1'
/** Requests for each operation. */
const RUNS = IS_DEEP ? 10_000 : 3
/** Nothing listens there: what asks a score source fails, which is no fault of ours. */
const NOWHERE = 'http://127.0.0.1:9'
/** Refusals that keep the price, as a source was asked. */
const KEEPING = ['source_credential_rejected', 'source_privacy']

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly schema: Json
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: Json | undefined
}

interface Sent {
  readonly path: string
  readonly headers: Record<string, string>
  readonly text: string | undefined
}

const document = await documentOf('gateway')

function resolve(ref: string): Json {
  const steps = ref.slice(2).split('/')
  return steps.reduce<Json>((at, step) => at[step] as Json, document)
}

const operations: Operation[] = Object.entries(document.paths as Record<string, Record<string, Json>>).flatMap(
  ([path, item]) =>
    Object.entries(item).map(([method, { parameters = [], requestBody }]) => {
      const body = (requestBody as { content: Record<string, { schema: Json }> } | undefined)?.content[
        'application/json'
      ]
      return { method: method.toUpperCase(), path, parameters: parameters as Parameter[], body: body?.schema }
    }),
)

/** Bodies that the schema allows, that it nearly allows, and others. */
function bodies(schema: Json | undefined): fc.Arbitrary<string | undefined> {
  if (schema === undefined) return fc.constant(undefined)
  const valid = arbitraryOf(schema, resolve)
  const values = fc.oneof(
    { arbitrary: valid, weight: 2 },
    { arbitrary: nearly(valid), weight: 4 },
    { arbitrary: fc.jsonValue() as fc.Arbitrary<JsonValue>, weight: 1 },
  )
  const texts = values.map((value) => JSON.stringify(value))
  const broken = fc.tuple(texts, fc.nat(1_000)).map(([text, at]) => text.slice(0, at % (text.length + 1)))
  return fc.oneof({ arbitrary: texts, weight: 9 }, { arbitrary: broken, weight: 1 })
}

function requests({ path, parameters, body }: Operation): fc.Arbitrary<Sent> {
  const textOf = ({ in: where, schema }: Parameter): fc.Arbitrary<string> => {
    const allowed = arbitraryOf(schema, resolve).map(String)
    const others = where === 'header' ? fc.constantFrom('*', '"0"', 'W/"1"', '"', '7') : fc.string({ unit: 'binary' })
    const known = where === 'path' ? fc.constantFrom('demo', 'admin', 'nobody', '...', '%') : others
    return where === 'header' ? fc.oneof(others, fc.stringMatching(/^[!-~]{1,40}$/)) : fc.oneof(allowed, others, known)
  }
  const values = fc.tuple(...parameters.map((each) => fc.option(textOf(each), { nil: undefined, freq: 6 })))
  return fc.tuple(values, bodies(body)).map(([given, text]) => {
    const named = parameters.map((each, index) => ({ ...each, value: given[index] }))
    const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name) => {
      const value = named.find((each) => each.name === name)?.value ?? 'demo'
      const text = encodeURIComponent(Buffer.from(value).toString()) || 'x'
      // What clients take for a step in the path would lead elsewhere.
      return /^\.{1,2}$/.test(text) ? `${text}.` : text
    })
    const query = new URLSearchParams()
    const headers: Record<string, string> = {}
    for (const { name, in: where, value } of named) {
      if (value === undefined || where === 'path') continue
      if (where === 'query') query.append(name, value)
      else headers[name] = value
    }
    return { path: query.size === 0 ? filled : `${filled}?${query}`, headers, text }
  })
}

/** A mark that changes with a file; cheaper than a comparison of contents. */
function watch(dataDir: string): () => unknown {
  const file = new Database(join(dataDir, 'gateway.sqlite'), { readonly: true })
  onTestFinished(() => {
    file.close()
  })
  const version = file.prepare('pragma data_version')
  return () => (version.get() as { data_version: number }).data_version
}

/** What must not change by a request that is refused. */
async function stateOf({ gateway, dataDir }: TestGateway): Promise<unknown> {
  return { data: databaseOf(dataDir), tokens: await tokensOf(gateway) }
}

/**
 * Used tokens in every personal window. A request whose tokens went back leaves its windows open. The site is left out: a user's
 * bypass ends when the user is deleted, a moment later in the cache of the settings.
 */
async function tokensOf({ app }: TestGateway['gateway']): Promise<readonly number[]> {
  const statuses = await Promise.all(['demo', 'admin'].map((id) => app.quota.status(id)))
  return statuses.flatMap(({ limits }) => limitsIn('personal').map((name) => limits[name]?.used ?? Number.NaN))
}

async function setUp(): Promise<TestGateway> {
  const gateway = await testGateway({ env: { LXNS_BASE_URL: NOWHERE, FISH_BASE_URL: NOWHERE, LOG_LEVEL: 'silent' } })
  const limits = Object.fromEntries(limitsIn('personal').map((name) => [name, 10 ** 9]))
  for (const id of ['demo', 'admin']) {
    await gateway.gateway.app.quota.subjects.set(id, { limits, bypass: { site: true } })
  }
  return gateway
}

/** Such requests take longer: a source that does not answer is sent again. */
function asksSource(path: string): boolean {
  return path.startsWith('/v1/update-')
}

function checkStatus({ status, body }: Answer, { path }: Operation): void {
  const mayFail = asksSource(path) && [502, 504].includes(status)
  if (!mayFail) expect(status, JSON.stringify(body)).toBeLessThan(500)
}

/** Sends requests that fit the operation, and compares the effects with the promises. */
async function fuzz(operation: Operation): Promise<void> {
  const gateway = await setUp()
  const { method, path: template } = operation
  const token = template.startsWith('/admin') ? ADMIN_TOKEN : USER_TOKEN
  const version = watch(gateway.dataDir)
  let before = await stateOf(gateway)
  let versionBefore = version()
  await fc.assert(
    fc.asyncProperty(requests(operation), async ({ path, headers, text }) => {
      const answer = await gateway.send(method, path, { token, headers, ...(text === undefined ? {} : { text }) })
      checkStatus(answer, operation)
      const isSame = version() === versionBefore
      if (answer.status < 400 || KEEPING.includes(answer.body?.error)) {
        before = await stateOf(gateway)
      } else {
        const { tokens } = before as { readonly tokens: unknown }
        expect(await tokensOf(gateway.gateway)).toEqual(tokens)
        if (!isSame) expect(await stateOf(gateway)).toEqual(before)
      }
      versionBefore = version()
    }),
    { numRuns: asksSource(template) ? Math.ceil(RUNS / 4) : RUNS },
  )
}

describe('random requests', { timeout: IS_DEEP ? 3_600_000 : 60_000 }, () => {
  const changing = operations.filter(({ method }) => method !== 'GET')

  it.each(changing)('$method $path answers as documented, and a refusal changes nothing', fuzz)

  it('the reading operations answer as documented and change nothing', async () => {
    for (const operation of operations)
      if (operation.method === 'GET' && operation.parameters.length > 0) await fuzz(operation)
  })
})
