import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, testGateway, USER_TOKEN } from './support/gateway.ts'

/** As browsers ask for a page. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

describe('a service’s front page', () => {
  it('the front page describes the services to browsers in their language, without user data', async () => {
    const { gateway } = await testGateway({ env: { BOT_TOKEN: 'bt_test-bot-0123456789' } })
    const { addresses } = gateway
    for (const service of ['gateway', 'sync', 'charts'] as const) {
      const base = addresses[service]
      const response = await fetch(`${base}/`, { headers: { Accept: BROWSER } })
      const html = await response.text()
      expect([service, response.status, response.headers.get('Content-Type')]).toEqual([
        service,
        200,
        'text/html; charset=utf-8',
      ])
      expect(html).toMatch(/<html lang="en">/)
      expect(html).toContain('curl ')
      const policy = response.headers.get('Content-Security-Policy')
      expect(policy).toMatch(/^default-src 'none';style-src 'sha256-[\w+/]+={0,2}';/)
      expect(response.headers.get('Vary')?.split(', ')).toEqual(expect.arrayContaining(['Accept', 'Accept-Language']))
      // Whatever it leads to is there.
      const linked = [...html.matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) => new URL(href, `${base}/`))
      expect(linked.length).toBeGreaterThan(3)
      for (const url of linked) {
        const { status, body } = await fetch(url, { headers: { Accept: BROWSER } })
        await body?.cancel()
        expect([url.href, status]).toEqual([url.href, 200])
      }
      for (const secret of [USER_TOKEN, ADMIN_TOKEN, 'bt_test']) expect(html).not.toContain(secret)
      const chinese = await fetch(`${base}/`, { headers: { Accept: BROWSER, 'Accept-Language': 'zh-CN,zh;q=0.9' } })
      expect(await chinese.text()).toContain('<html lang="zh-CN">')
    }
  })

  it('other clients get the usual response at the front page’s address', async () => {
    const { gateway } = await testGateway()
    for (const service of ['gateway', 'sync', 'charts'] as const) {
      const base = gateway.addresses[service]
      const asked = [
        {},
        { Accept: '*/*' },
        { Accept: 'application/json' },
        { Accept: 'application/json, text/html;q=0.5' },
      ]
      for (const headers of asked) {
        const response = await fetch(`${base}/`, { headers })
        expect([service, headers, response.status]).toEqual([service, headers, 401])
        expect(response.headers.get('Content-Type')).toContain('application/json')
        await response.body?.cancel()
      }
      for (const [method, path] of [
        ['POST', '/'],
        ['GET', '/nothing'],
        ['GET', '/index.html'],
      ] as const) {
        const response = await fetch(`${base}${path}`, { method, headers: { Accept: BROWSER } })
        expect([service, method, path, response.status]).toEqual([service, method, path, 401])
        await response.body?.cancel()
      }
    }
  })
})
