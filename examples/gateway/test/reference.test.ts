import { createHook } from 'node:async_hooks'
import { get } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testGateway } from './support/gateway.ts'

const LINKED = ['reference.js', 'reference.css', 'swagger-ui-bundle.js', 'swagger-ui.css']
const MODULES = [
  'mend.js',
  'parts.js',
  'quota-left.js',
  'texts-zh.js',
  'translate.js',
  'documents-zh.js',
  'errors-zh.js',
  'words.js',
]

const PAGE = join(import.meta.dirname, '../src/reference/page')
const IN_CHINESE = /\p{Script=Han}/u

interface ChinesePage {
  inChinese(text: string): string
  documentInChinese(text: string): string
}

interface ChineseTexts {
  readonly TEXTS_ZH: Readonly<Record<string, string>>
  readonly TAGS_ZH: Readonly<Record<string, string>>
}

describe('files of the reference', () => {
  it('the reference pages are public and link to each other', async () => {
    const { gateway } = await testGateway()
    const { gateway: base, sync, charts } = gateway.addresses
    const moved = await fetch(`${base}/reference`, { redirect: 'manual' })
    expect([moved.status, moved.headers.get('Location')]).toEqual([302, 'reference/'])

    const page = await fetch(`${base}/reference`)
    expect([page.status, page.url]).toEqual([200, `${base}/reference/`])
    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    const html = await page.text()
    for (const address of [base, sync, charts]) expect(html).toContain(`data-document="${address}/openapi.json"`)
    const linked = [...html.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, target = '']) => target)
    expect(linked.filter((target) => !target.includes(':')).sort()).toEqual([...LINKED, '?lang=zh-CN'].sort())
    expect(html).toContain('<html lang="en">')
    const asked = { headers: { 'Accept-Language': 'zh-TW,zh;q=0.9,en;q=0.5' } }
    expect(await (await fetch(`${base}/reference/`, asked)).text()).toContain('<html lang="zh-CN">')
    expect(await (await fetch(`${base}/reference/?lang=en`, asked)).text()).toContain('<html lang="en">')
  })

  it('the reference’s content security policy allows only its own files and the three services', async () => {
    const { gateway } = await testGateway()
    const { gateway: base, sync, charts } = gateway.addresses
    const { headers } = await fetch(`${base}/reference/`)
    expect(headers.get('Content-Security-Policy')?.split(';')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      `connect-src 'self' ${base} ${sync} ${charts}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Referrer-Policy')).toBe('no-referrer')
    expect(headers.get('Cache-Control')).toBe('no-cache')
  })

  it('the reference loads only its own files, and unchanged ones are cached', async () => {
    const { gateway } = await testGateway()
    const base = `${gateway.addresses.gateway}/reference`
    for (const name of [...LINKED, ...MODULES]) {
      const file = await fetch(`${base}/${name}`)
      expect([name, file.status, file.headers.get('Cache-Control')]).toEqual([name, 200, 'no-cache'])
      expect(file.headers.get('X-Content-Type-Options')).toBe('nosniff')
      await file.body?.cancel()
      expect([name, await statusOf(`${base}/${name}`, { 'If-None-Match': file.headers.get('ETag') ?? '' })]).toEqual([
        name,
        304,
      ])
    }
    for (const other of ['tsconfig.json', 'swagger-ui-bundle.js.map', '../package.json', '%2e%2e/page-html.ts', 'x']) {
      expect([other, (await fetch(`${base}/${other}`)).status]).toEqual([other, 401])
    }
    expect((await fetch(`${base}/`, { method: 'POST' })).status).toBe(401)
  })

  it('the reference files are compressed once, not per request', async () => {
    const { gateway } = await testGateway()
    const url = `${gateway.addresses.gateway}/reference/swagger-ui.css`
    const counted = compressions()
    // Packed answers of any kind; their bytes are not looked at here, which would take another stream.
    for (const encoding of ['gzip, br', 'br', 'deflate']) await statusOf(url, { 'Accept-Encoding': encoding })
    const first = counted()
    for (const encoding of ['gzip, br', 'br', 'deflate']) {
      for (let times = 0; times < 5; times++) {
        expect(await statusOf(url, { 'Accept-Encoding': encoding })).toBe(200)
      }
    }
    expect(counted()).toBe(first)
    const plain = await fetch(url, { headers: { 'Accept-Encoding': 'identity' } })
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(Buffer.from(await plain.arrayBuffer()))
  })

  it('every text of the documents is in Chinese, except descriptions of schema members', async () => {
    const { gateway } = await testGateway()
    const page: ChinesePage = await import(join(PAGE, 'translate.js'))
    const { TEXTS_ZH, TAGS_ZH }: ChineseTexts = await import(join(PAGE, 'texts-zh.js'))
    const missing: string[] = []
    for (const address of Object.values(gateway.addresses)) {
      const document = JSON.parse(page.documentInChinese(await (await fetch(`${address}/openapi.json`)).text()))
      const { schemas: _, ...components } = document.components
      missing.push(...spokenIn({ ...document, components }).filter((text) => !IN_CHINESE.test(text)))
      const operations: { summary?: string }[] = Object.values(document.paths).flatMap((path) =>
        Object.values(path ?? {}),
      )
      missing.push(...operations.flatMap(({ summary = '' }) => (summary in TEXTS_ZH ? [] : [summary])))
      missing.push(...document.tags.flatMap(({ name }: { name: string }) => (name in TAGS_ZH ? [] : [name])))
    }
    expect(missing).toEqual([])
    // Texts of another policy are shown untranslated.
    expect(page.inChinese('Free.\n\nOf my own.')).toBe('免费。\n\nOf my own.')
    const windows = '1 hour, 30 minutes, a calendar month'
    const text = `Stores players' scores, and meters every request against the quotas \`a\` and \`b\`, in windows of ${windows}.`
    expect(page.inChinese(text)).toMatch(/`a` 和 `b` .*窗口为 1 小时、30 分钟、自然月。$/)
  })

  it('configured addresses are escaped in the reference', async () => {
    const { gateway } = await testGateway({ env: { PUBLIC_CHARTS_URL: 'https://charts.example.com/"><script>' } })
    const response = await fetch(`http://127.0.0.1:${gateway.ports.gateway}/reference/`)
    expect(response.headers.get('Content-Security-Policy')).toContain(' https://charts.example.com;')
    expect(await response.text()).not.toContain('<script>')
  })
})

/** Every paragraph of a document's descriptions, without those of schemas. */
function spokenIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => {
    if (['schema', 'example', 'examples'].includes(key)) return []
    return key === 'description' && typeof member === 'string' ? member.split('\n\n') : spokenIn(member)
  })
}

/** How many streams of zlib were begun since. */
function compressions(): () => number {
  let count = 0
  const hook = createHook({
    init(_id, type) {
      if (type === 'ZLIB') count++
    },
  }).enable()
  onTestFinished(() => void hook.disable())
  return () => count
}

/** Asks as browsers do; `fetch` of Node adds to such a request that caches are not to be believed. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).once('error', reject)
  })
}
