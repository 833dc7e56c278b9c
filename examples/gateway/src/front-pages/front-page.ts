import { createHash } from 'node:crypto'
import { type RequestHandler, Router } from 'express'
import helmet from 'helmet'
import type { Addresses } from '../addresses.ts'
import { escaped, languageOf, type PageLanguage } from '../pages/pages.ts'

const WORDS = {
  en: {
    titles: { gateway: 'Score gateway', sync: 'Score sync', charts: 'Chart preview' },
    about: {
      gateway:
        'Keeps players’ scores and meters every request against quotas. Programs call the service. This page is for people.',
      sync: 'Takes scores from bots. Programs call the service. This page is for people.',
      charts: 'Lists charts and draws them. Programs call the service. This page is for people.',
    },
    first: 'Send your first request, with a credential from an administrator:',
    reference: ['Reference', 'read about every operation and try it'],
    document: ['OpenAPI document', 'the same, for programs'],
    console: ['Console', 'for administrators: limits, users, credentials'],
    docs: 'Documentation, in the sources',
    others: 'Other services',
  },
  'zh-CN': {
    titles: { gateway: '成绩网关', sync: '成绩同步', charts: '谱面预览' },
    about: {
      gateway: '保存玩家的成绩，并按配额计量每个请求。服务供程序调用，此页面供人阅读。',
      sync: '接收机器人发送的成绩。服务供程序调用，此页面供人阅读。',
      charts: '提供谱面表并绘制谱面。服务供程序调用，此页面供人阅读。',
    },
    first: '第一个请求，凭据由管理员签发：',
    reference: ['API 参考', '所有操作，可以阅读和试用'],
    document: ['OpenAPI 文档', '同样的内容，供程序读取'],
    console: ['控制台', '供管理员使用：限额、用户、凭据'],
    docs: '文档，在源代码中',
    others: '其他服务',
  },
} as const satisfies Readonly<Record<PageLanguage, object>>

/** A request that works with the demo's data, and shows how to send a credential. */
const FIRST: Readonly<Record<keyof Addresses, (address: string) => string>> = {
  gateway: (address) => `curl ${address}/me/quota -H 'Authorization: Bearer gw_...'`,
  sync: (address) =>
    `curl -X POST ${address}/api/bot/sync -H 'Bot-Token: bt_...' -H 'Content-Type: application/json' -d '{"qq":10001,"records":[]}'`,
  charts: (address) => `curl ${address}/api/v1/charts -H 'X-API-Key: mk_...'`,
}

const STYLE = `
:root{color-scheme:light dark;font:16px/1.55 system-ui,"Noto Sans CJK SC","Noto Sans SC","Microsoft YaHei",sans-serif}
body{max-width:40rem;margin:0 auto;padding:2rem 1.25rem;background:light-dark(#fff,#16191c);color:light-dark(#1c2024,#e8eaed)}
h1{margin:0 0 .5rem;font-size:1.6rem}
h2{margin:1.5rem 0 .25rem;font-size:1.05rem}
a{color:light-dark(#1558b0,#8ab8ff)}
ul{margin:0;padding:0;list-style:none}
li{padding:.35rem 0}
pre{margin:.5rem 0 0;padding:.75rem 1rem;border-radius:6px;background:light-dark(#f5f7f9,#1f2428);font-size:.9rem;white-space:pre-wrap;overflow-wrap:anywhere}
`

/** The page of a service. It is the same for everyone. */
function frontHtml(service: keyof Addresses, addresses: Addresses, language: PageLanguage): string {
  const words = WORDS[language]
  const { gateway } = addresses
  const own = addresses[service]
  const link = (href: string, [text, about]: readonly [string, string]) => ({ href, text, about })
  const isGateway = service === 'gateway'
  // Links within the service are relative, because a proxy may serve it at another path.
  const reference = link(isGateway ? 'reference/' : `${gateway}/reference/${service}`, words.reference)
  const links = [...(isGateway ? [link('admin/', words.console)] : []), reference, link('openapi.json', words.document)]
  const others = (['gateway', 'sync', 'charts'] as const)
    .filter((each) => each !== service)
    .map((each) => `<li><a href="${escaped(`${addresses[each]}/`)}">${words.titles[each]}</a></li>`)
  return `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${words.titles[service]}</title>
    <link rel="icon" href="data:,">
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
      <h1>${words.titles[service]}</h1>
      <p>${words.about[service]}</p>
      <ul>
        ${links.map(({ href, text, about }) => `<li><a href="${escaped(href)}">${text}</a>: ${about}</li>`).join('\n        ')}
        <li>${words.docs}: <code>docs/gateway</code></li>
      </ul>
      <h2>${words.first}</h2>
      <pre>${escaped(FIRST[service](own))}</pre>
      <h2>${words.others}</h2>
      <ul>
        ${others.join('\n        ')}
      </ul>
    </main>
  </body>
</html>
`
}

/** The page loads nothing and runs no scripts. Only its inline style is allowed. */
const policy: RequestHandler = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    styleSrc: [`'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`],
    imgSrc: ['data:'],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
})

/**
 * Serves a page about the service at its address to browsers. Clients get it only if they prefer HTML to JSON; for
 * programs nothing changes.
 *
 * @param addresses returns where clients find the services; called for each request
 */
export function frontPage(service: keyof Addresses, addresses: () => Addresses): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/', (req, res, next) => {
    res.vary('Accept')
    // If a client accepts both equally, as with `*/*`, the first one wins.
    if (req.accepts(['json', 'html']) !== 'html') return next()
    policy(req, res, () => {
      res.vary('Accept-Language').set('Cache-Control', 'no-cache').type('html')
      res.send(frontHtml(service, addresses(), languageOf(req)))
    })
  })
  return router
}
