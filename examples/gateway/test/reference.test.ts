import { createHook } from 'node:async_hooks'
import { get } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testGateway } from './support/gateway.ts'

const LINKED = ['reference.js', 'reference.css', 'swagger-ui-bundle.js', 'swagger-ui.css']
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
    const linked = [...html.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, target = '']) => target)
    const pages = ['./', 'sync', 'charts', '../']
    expect(linked.filter((target) => !target.includes(':')).sort()).toEqual([...LINKED, ...pages].sort())
    for (const [path, address] of [
      ['', base],
      ['sync', sync],
      ['charts', charts],
    ] as const) {
      const own = await (await fetch(`${base}/reference/${path}`)).text()
      expect(own).toContain(`data-document="${address}/openapi.json"`)
    }
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
    expect(headers.get('Cache-Control')).toBe('no-store')
  })

  it('the reference loads only its own files, and unchanged ones are cached', async () => {
    const { gateway } = await testGateway()
    const base = `${gateway.addresses.gateway}/reference`
    for (const name of LINKED) {
      const file = await fetch(`${base}/${name}`)
      expect([name, file.status, file.headers.get('Cache-Control')]).toEqual([name, 200, 'no-cache'])
      expect(file.headers.get('X-Content-Type-Options')).toBe('nosniff')
      await file.body?.cancel()
      expect([name, await statusOf(`${base}/${name}`, { 'If-None-Match': file.headers.get('ETag') ?? '' })]).toEqual([
        name,
        304,
      ])
    }
    for (const other of [
      'tsconfig.json',
      'swagger-ui-bundle.js.map',
      '../package.json',
      '%2e%2e/reference-pages.ts',
      'x',
    ]) {
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

  it('configured addresses are escaped in the reference', async () => {
    const { gateway } = await testGateway({ env: { PUBLIC_CHARTS_URL: 'https://charts.example.com/"><script>' } })
    const response = await fetch(`http://127.0.0.1:${gateway.ports.gateway}/reference/charts`)
    expect(response.headers.get('Content-Security-Policy')).toContain(' https://charts.example.com;')
    expect(await response.text()).not.toContain('<script>')
  })
})

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
