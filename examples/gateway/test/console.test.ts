import { describe, expect, it } from 'vitest'
import { buildConsole } from '../src/console/build-console.ts'
import { testGateway } from './support/gateway.ts'

/** What the whole console may weigh on the way to a browser. */
const MAX_GZIPPED_BYTES = 100_000

describe('files of the console', () => {
  it('the console’s pages are public, contain no data, and load only their own files', async () => {
    const { gateway } = await testGateway()
    const base = gateway.addresses.gateway
    const moved = await fetch(`${base}/admin`, { redirect: 'manual' })
    expect([moved.status, moved.headers.get('Location')]).toEqual([302, 'admin/'])

    const page = await fetch(`${base}/admin`)
    expect([page.status, page.url]).toEqual([200, `${base}/admin/`])
    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('Cache-Control')).toBe('no-cache')
    const html = await page.text()
    expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)|https?:/)
    const names = [...html.matchAll(/ (?:src|href)="\.\/assets\/([^"]*)"/g)].map(([, name = '']) => name)
    expect(names.map((name) => name.slice(name.lastIndexOf('.'))).sort()).toEqual(['.css', '.js', '.svg'])

    let bytes = 0
    for (const name of names) {
      const asset = await fetch(`${base}/admin/assets/${name}`, { headers: { 'Accept-Encoding': 'gzip' } })
      expect([name, asset.status]).toEqual([name, 200])
      expect(asset.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
      expect(asset.headers.get('X-Content-Type-Options')).toBe('nosniff')
      bytes += (await new Response((await asset.blob()).stream().pipeThrough(new CompressionStream('gzip'))).blob())
        .size
    }
    expect(bytes).toBeLessThan(MAX_GZIPPED_BYTES)

    for (const other of ['assets/x.js', 'assets/..%2findex.html', 'index.html', 'src/main.tsx', 'users', 'Assets/x']) {
      expect([other, (await fetch(`${base}/admin/${other}`)).status]).toEqual([other, 401])
    }
    expect((await fetch(`${base}/admin/`, { method: 'POST' })).status).toBe(401)
  })

  it('the console’s content security policy allows only its own files and the gateway', async () => {
    const { gateway } = await testGateway()
    const { headers } = await fetch(`${gateway.addresses.gateway}/admin/`)
    expect(headers.get('Content-Security-Policy')?.split(';')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(headers.get('Referrer-Policy')).toBe('no-referrer')
  })

  it('the console is built once for unchanged sources', async () => {
    const lines: string[] = []
    const folder = await buildConsole((line) => lines.push(line))
    lines.length = 0
    expect(await buildConsole((line) => lines.push(line))).toBe(folder)
    expect(lines).toEqual([])
  })
})
