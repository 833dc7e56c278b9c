import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import helmet from 'helmet'
import type { Addresses } from '../addresses.ts'
import { escaped, languageOf, type PackedFile, type PageLanguage, packedFile, sendPacked } from '../pages/pages.ts'

const require = createRequire(import.meta.url)
const OWN = join(import.meta.dirname, 'page')
const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'))

/** The page's files, and their locations. */
const FILES: Readonly<Record<string, string>> = {
  'reference.js': OWN,
  'reference.css': OWN,
  'swagger-ui-bundle.js': SWAGGER_UI,
  'swagger-ui.css': SWAGGER_UI,
}

/** Browsers revalidate their copy each time, so that a new version is visible immediately. */
const CACHE_CONTROL = 'no-cache'

/** The services in the order of the links, and the paths of their pages. */
const PATHS = { gateway: './', sync: 'sync', charts: 'charts' } as const satisfies Record<keyof Addresses, string>
const SERVICES = Object.keys(PATHS) as (keyof Addresses)[]

/**
 * Serves the interactive reference, Swagger UI, below `/reference/`. Each service is a page of its own, so a browser
 * that goes to another one keeps nothing that was typed.
 *
 * @param addresses returns where clients find the services; called for each request
 */
export function referencePages(addresses: () => Addresses): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true })
  router.get('/reference', (_req, res) => res.redirect('reference/'))
  for (const service of SERVICES) {
    const path = PATHS[service].replace('./', '')
    router.get(`/reference/${path}`, pagePolicy(addresses), (req, res) => {
      res.vary('Accept-Language').set('Cache-Control', 'no-store')
      res.type('html').send(pageHtml(service, addresses(), languageOf(req)))
    })
  }
  for (const [name, folder] of Object.entries(FILES)) {
    let file: Promise<PackedFile> | undefined
    router.get(`/reference/${name}`, async (req, res) => {
      file ??= readFile(join(folder, name)).then((bytes) => packedFile(name, bytes))
      sendPacked(req, res.set('Cache-Control', CACHE_CONTROL), await file)
    })
  }
  return router
}

/** The page loads only its own files, and calls only the three services. No page may frame it. */
function pagePolicy(addresses: () => Addresses): RequestHandler {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      // Swagger UI sets style properties in scripts, which the policy allows.
      styleSrc: ["'self'"],
      // Swagger UI's icons.
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'", () => originsOf(addresses()).join(' ')],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  })
}

function originsOf(addresses: Addresses): string[] {
  return [...new Set(Object.values(addresses).map((address) => new URL(address).origin))]
}

const WORDS = {
  en: {
    title: 'API reference',
    services: { gateway: 'Gateway', sync: 'Score sync', charts: 'Chart preview' },
    back: 'Front page',
    forgets: 'Each service has its own credentials. If you choose another service, everything you typed is forgotten.',
    other: (home: string) =>
      `The services don’t respond to this page, because it came from another address. Open ${home}.`,
    noScript: 'This page needs JavaScript. The document doesn’t:',
  },
  'zh-CN': {
    title: 'API 参考',
    services: { gateway: '网关', sync: '成绩同步', charts: '谱面预览' },
    back: '首页',
    forgets: '每个服务各有凭据。切换服务会清除在此填写的一切。',
    other: (home: string) => `此页面来自其他地址，各服务不会响应。请打开 ${home}。`,
    noScript: '此页面需要 JavaScript。文档本身不需要：',
  },
} as const satisfies Readonly<Record<PageLanguage, object>>

/** Links are relative, because a proxy may serve the page at another path. */
function pageHtml(chosen: keyof Addresses, addresses: Addresses, language: PageLanguage): string {
  const words = WORDS[language]
  const links = SERVICES.map((service) => {
    const current = service === chosen ? ' aria-current="page"' : ''
    return `<a href="${PATHS[service]}"${current}>${words.services[service]}</a>`
  })
  const document = escaped(`${addresses[chosen]}/openapi.json`)
  const home = escaped(`${addresses.gateway}/reference/${PATHS[chosen].replace('./', '')}`)
  return `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${words.services[chosen]} - ${words.title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="swagger-ui.css">
    <link rel="stylesheet" href="reference.css">
    <script src="swagger-ui-bundle.js" defer></script>
    <script src="reference.js" defer></script>
  </head>
  <body>
    <header>
      <nav aria-label="${words.title}">${links.join(' ')} <a href="../">${words.back}</a></nav>
      <p>${words.forgets}</p>
      <p id="home" hidden>${words.other(`<a href="${home}">${home}</a>`)}</p>
      <noscript><p>${words.noScript} <a href="${document}">openapi.json</a></p></noscript>
    </header>
    <main id="service" data-document="${document}"></main>
  </body>
</html>
`
}
