import type { Addresses } from '../addresses.ts'
import { escaped, type PageLanguage } from '../pages/language.ts'

interface PageWords {
  readonly title: string
  readonly services: Readonly<Record<keyof Addresses, string>>
  readonly servicesLabel: string
  readonly forgets: string
  readonly other: (home: string) => string
  readonly noScript: string
}

const WORDS: Readonly<Record<PageLanguage, PageWords>> = {
  en: {
    title: 'API reference',
    services: { gateway: 'Gateway', sync: 'Score sync', charts: 'Chart preview' },
    servicesLabel: 'Services',
    forgets:
      'Each service has its own credentials. If you choose another service, this page forgets everything you typed.',
    other: (home) => `The services don’t respond to this page, because it came from another address. Open ${home}.`,
    noScript: 'This page needs JavaScript. The documents don’t:',
  },
  'zh-CN': {
    title: 'API 参考',
    services: { gateway: '网关', sync: '成绩同步', charts: '谱面预览' },
    servicesLabel: '服务',
    forgets: '每个服务各有凭据。切换服务会清除在此填写的一切。',
    other: (home) => `此页面来自其他地址，各服务不会响应。请打开 ${home}。`,
    noScript: '此页面需要 JavaScript。文档本身不需要：',
  },
}

/** The languages by their own names, in the order of the links. */
const LANGUAGES: readonly (readonly [PageLanguage, string])[] = [
  ['en', 'English'],
  ['zh-CN', '简体中文'],
]

/** The services in the order of the tabs. */
const SERVICES: readonly (keyof Addresses)[] = ['gateway', 'sync', 'charts']

/**
 * The page's HTML. Everything else is in files. Links are relative, because a proxy may serve the page at another path.
 */
export function pageHtml(addresses: Addresses, language: PageLanguage): string {
  const words = WORDS[language]
  const tabs = SERVICES.map(
    (id) =>
      `<button type="button" role="tab" id="${id}" aria-controls="service" aria-selected="false" tabindex="-1" data-document="${escaped(documentOf(addresses[id]))}">${words.services[id]}</button>`,
  )
  const documents = SERVICES.map((id) => `<a href="${escaped(documentOf(addresses[id]))}">${words.services[id]}</a>`)
  const home = escaped(`${addresses.gateway}/reference/`)
  const languages = LANGUAGES.map(([id, name]) =>
    id === language
      ? `<span lang="${id}">${name}</span>`
      : `<a href="?lang=${id}" lang="${id}" hreflang="${id}">${name}</a>`,
  )
  return `<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${words.title}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="swagger-ui.css">
    <link rel="stylesheet" href="reference.css">
    <script src="swagger-ui-bundle.js" defer></script>
    <script src="reference.js" type="module"></script>
  </head>
  <body>
    <header>
      <div class="top">
        <h1>${words.title}</h1>
        <p class="languages">${languages.join('\n        ')}</p>
      </div>
      <div role="tablist" aria-label="${words.servicesLabel}">
        ${tabs.join('\n        ')}
      </div>
      <p>${words.forgets}</p>
      <p id="home" hidden>${words.other(`<a href="${home}">${home}</a>`)}</p>
      <noscript><p>${words.noScript} ${documents.join(', ')}.</p></noscript>
    </header>
    <div role="tabpanel" id="service"></div>
  </body>
</html>
`
}

function documentOf(address: string): string {
  return `${address}/openapi.json`
}
