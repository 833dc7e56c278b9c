import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig, type HeadConfig, type MarkdownRenderer, type UserConfig } from 'vitepress'
import llmstxt from 'vitepress-plugin-llms'
import { apiEntries, CHINESE, descriptionOf, docs, type Group, groups } from './pages.ts'
import { search } from './search.ts'

const REPOSITORY = 'https://github.com/scoregw/quota'
/** Where the site is published: absolute links start with it. */
const SITE = (process.env.SITE_URL ?? 'https://scoregw.github.io/quota').replace(/\/$/, '')
const BASE = `${new URL(SITE).pathname.replace(/\/$/, '')}/`
const DESCRIPTION = 'Rate limits and quotas for TypeScript servers'
const EDIT = `${REPOSITORY}/edit/main/docs/:path`

/** A heading's anchor as GitHub makes it, so that one address works in both places. */
function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

const all = groups()
const listOf = ({ title, pages }: Group): DefaultTheme.SidebarItem => ({
  text: title,
  // The group of the page that is shown is open.
  collapsed: true,
  items: pages.map((page) => ({ text: page.title, link: page.link })),
})
const inFolder = (folder: string): DefaultTheme.SidebarItem[] =>
  all.filter(({ pages }) => pages[0]?.link.startsWith(`/${folder}/`)).map(listOf)
const api = apiEntries()
const apiGroups = api.pages.length > 0 ? [listOf(api)] : []
const reference = inFolder('reference')

const firstLinkOf = (title: string): string => all.find((group) => group.title === title)?.pages[0]?.link ?? '/'

type CoreRule = Parameters<MarkdownRenderer['core']['ruler']['push']>[1]

/** A table's corner without a text is a cell: a header that says nothing confuses who listens to it. */
const emptyHeadersAsCells: CoreRule = ({ tokens }) => {
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'th_open' || tokens[index + 1]?.content !== '') continue
    token.tag = 'td'
    const close = tokens[index + 2]
    if (close?.type === 'th_close') close.tag = 'td'
  }
}

/** Tables whose first column is one of these have a form of their own on a phone: each row is a block. */
const STACKED = ['Option', 'Variable', 'Metric']
/** Columns whose cells show their header in that form. */
const LABELLED = ['Default', 'Type', 'Labels']

const stackedTables: CoreRule = ({ tokens }) => {
  for (const [start, table] of tokens.entries()) {
    if (table.type !== 'table_open') continue
    const end = tokens.findIndex(({ type }, index) => index > start && type === 'table_close')
    const cellsOf = (cell: string) =>
      tokens.slice(start, end).flatMap((token, index) => (token.type === cell ? [start + index] : []))
    const headers = cellsOf('th_open').map((index) => tokens[index + 1]?.content)
    if (!STACKED.includes(headers[0] ?? '')) continue
    for (const [place, index] of cellsOf('td_open').entries()) {
      // VitePress writes `<table>` without attributes: the style sheet knows the table by its cells.
      tokens[index]?.attrSet('class', 'of-stacked')
      const column = headers[place % headers.length] ?? ''
      const isFilled = tokens[index + 1]?.content !== ''
      if (LABELLED.includes(column) && isFilled) tokens[index]?.attrSet('data-label', column)
    }
  }
}

/** Links of pages to files outside of `docs/` lead to the repository on the site. */
const linksToSources: CoreRule = ({ tokens }) => {
  for (const link of tokens.flatMap(({ children }) => children ?? [])) {
    const path = /^(?:\.{1,2}\/)+((?:packages|examples|bench|internal|scripts)\/.*|[A-Z]+\.md.*)$/.exec(
      link.attrGet('href') ?? '',
    )?.[1]
    if (path !== undefined) link.attrSet('href', `${REPOSITORY}/blob/main/${path}`)
  }
}

/** Lines in Chinese break between words: where a word ends, the page has a `<wbr>`, and the style sheet allows no others. */
function breakBetweenWords(md: MarkdownRenderer): void {
  const words = new Intl.Segmenter('zh', { granularity: 'word' })
  const plain = md.renderer.rules.text
  md.renderer.rules.text = (tokens, index, options, env, self) => {
    const html = plain?.(tokens, index, options, env, self) ?? md.utils.escapeHtml(tokens[index]?.content ?? '')
    if (!env.relativePath?.startsWith('zh/')) return html
    const segments = [...words.segment(html)]
    const isHan = (at: number): boolean => /^\p{Script=Han}/u.test(segments[at]?.segment ?? '')
    return segments
      .map(({ segment }, at) => (at > 0 && isHan(at) && isHan(at - 1) ? `<wbr>${segment}` : segment))
      .join('')
  }
}

const zhSidebar: DefaultTheme.SidebarItem[] = [
  {
    text: '中文',
    items: [
      { text: '首页', link: '/zh/' },
      { text: '快速上手', link: '/zh/getting-started' },
      { text: '概念与常用词', link: '/zh/concepts' },
      { text: '示例网关', link: '/zh/gateway' },
    ],
  },
  { text: '英文文档', items: all.map(({ title }) => ({ text: title, link: firstLinkOf(title) })) },
]

/** A group in llms.txt: each page's link and first paragraph. */
function listed({ title, pages }: Group): string {
  const lines = pages.map((page) => `- [${page.title}](${SITE}${page.link.replace(/\/$/, '')}.md): ${page.description}`)
  return [`### ${title}`, '', ...lines].join('\n')
}

/**
 * llms.txt, llms-full.txt and each page as Markdown, for programs that read; what comments say is in the packages. The
 * plugin's types are of a newer Vite than VitePress', and of what both have it uses nothing that differs.
 */
const llms = llmstxt({
  domain: new URL(SITE).origin,
  ignoreFiles: ['api/**', 'playground.md', 'zh/**'],
  toc: all.map(listed).join('\n\n'),
}) as unknown as NonNullable<NonNullable<UserConfig['vite']>['plugins']>[number]

/** Styles of the theme that no page of the site uses: Algolia's search window, teams, sponsors, a front page of its own. */
const UNUSED = /\.DocSearch-(?!Button|Search-Icon)|\.VP(?:Team|HomeSponsors|Sponsors|Feature|Hero|CarbonAds|HomeHero)/

const withoutUnused = {
  postcssPlugin: 'without-unused',
  Rule(rule: { readonly selector: string; remove(): void }) {
    if (UNUSED.test(rule.selector)) rule.remove()
  },
}

/** In the theme's sidebar, a group's button has another one within it. The inner one is a picture of what the outer does. */
const oneButtonOfGroups = {
  name: 'one-button-of-groups',
  enforce: 'pre' as const,
  transform(code: string, id: string): string | undefined {
    if (!id.endsWith('/VPSidebarItem.vue')) return undefined
    const inner = /role="button"\s+aria-label="toggle section"([^>]*?)\s+tabindex="0"/
    if (!inner.test(code)) throw new Error('VPSidebarItem.vue has another form than this change of it expects')
    return code
      .replace(inner, 'aria-hidden="true"$1')
      .replace(':role="itemRole"', '$& :aria-expanded="itemRole && !collapsed"')
  },
}

/** What search engines and previews of links read: the page's address, its languages, its title and description. */
function headOf(path: string, title: string, description: string): HeadConfig[] {
  const addressOf = (of: string): string => `${SITE}/${of.replace(/(?:^|(?<=\/))index\.md$|\.md$/, '')}`
  const isChinese = path.startsWith('zh/')
  const twins = Object.entries(CHINESE).find((pair) => pair.includes(path))
  const property = (name: string, content: string): HeadConfig => ['meta', { property: `og:${name}`, content }]
  const alternate = (hreflang: string, of: string): HeadConfig => [
    'link',
    { rel: 'alternate', hreflang, href: addressOf(of) },
  ]
  return [
    ['link', { rel: 'canonical', href: addressOf(path) }],
    ...(twins === undefined
      ? []
      : [alternate('en', twins[0]), alternate('zh-CN', twins[1]), alternate('x-default', twins[0])]),
    property('type', 'website'),
    property('site_name', '@scoregw/quota'),
    property('locale', isChinese ? 'zh_CN' : 'en_US'),
    property('title', title),
    property('description', description),
    property('url', addressOf(path)),
    property('image', `${SITE}/preview.png`),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ]
}

export default defineConfig({
  title: '@scoregw/quota',
  description: DESCRIPTION,
  base: BASE,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}favicon.svg` }]],
  transformHead: ({ page, title, description, pageData }) =>
    pageData.isNotFound ? [['meta', { name: 'robots', content: 'noindex' }]] : headOf(page, title, description),
  sitemap: { hostname: `${SITE}/` },
  cleanUrls: true,
  // The list of all pages is a file of its own, instead of half of each page.
  metaChunk: true,
  // The playground loads the calendar for the scenarios that use one.
  shouldPreload: (link) => !link.includes('/calendar.'),
  /** What search engines and previews of links show of a page. */
  transformPageData: (page) => {
    if (page.description !== '' || page.relativePath.startsWith('api/')) return undefined
    return { description: descriptionOf(readFileSync(join(docs, page.filePath), 'utf8')) }
  },
  srcExclude: ['README.md', 'node_modules/**'],
  markdown: {
    anchor: { slugify: anchorOf },
    // Comments and keywords that can be read on the background of a block.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      md.core.ruler.push('empty_headers', emptyHeadersAsCells)
      md.core.ruler.push('stacked_tables', stackedTables)
      md.core.ruler.push('links_to_sources', linksToSources)
      breakBetweenWords(md)
    },
  },
  vite: {
    plugins: [llms, oneButtonOfGroups],
    css: { postcss: { plugins: [withoutUnused] } },
    // As the sources are written: older browsers have no private members, and these are the playground.
    build: { target: 'es2022' },
    // No component is written in Vue's options API.
    define: { __VUE_OPTIONS_API__: 'false' },
    // The playground runs the sources, as the tests do.
    resolve: { conditions: ['@scoregw/source'] },
    ssr: { resolve: { conditions: ['@scoregw/source'] }, noExternal: [/^@scoregw\//] },
  },
  locales: {
    root: { label: 'English', lang: 'en' },
    zh: {
      label: '简体中文',
      lang: 'zh-CN',
      description: '面向 TypeScript 服务端的限流与配额库',
      themeConfig: {
        nav: [
          { text: '快速上手', link: '/zh/getting-started' },
          { text: '概念', link: '/zh/concepts' },
          { text: '示例网关', link: '/zh/gateway' },
          { text: '演练场（英文）', link: '/playground' },
        ],
        editLink: { pattern: EDIT, text: '在 GitHub 上编辑此页' },
        footer: { message: '以 MIT 许可证发布。' },
        outline: { level: [2, 3], label: '本页目录' },
        docFooter: { prev: '上一页', next: '下一页' },
        sidebarMenuLabel: '目录',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '切换语言',
        darkModeSwitchLabel: '主题',
        lightModeSwitchTitle: '切换到浅色主题',
        darkModeSwitchTitle: '切换到深色主题',
        skipToContentLabel: '跳到正文',
      },
    },
  },
  themeConfig: {
    logo: '/favicon.svg',
    // Some pages exist in one language only: a change of language leads to its first page.
    i18nRouting: false,
    nav: [
      { text: 'Guide', link: firstLinkOf('Start') },
      { text: 'Reference', link: firstLinkOf('Reference') },
      {
        text: 'Examples',
        items: [
          { text: 'Recipes', link: '/guide/recipes' },
          { text: 'The gateway', link: firstLinkOf('Gateway') },
          { text: 'On GitHub', link: `${REPOSITORY}/tree/main/examples` },
        ],
      },
      { text: 'Playground', link: '/playground' },
    ],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: EDIT, text: 'Edit this page' },
    footer: { message: 'Released under the MIT licence.' },
    // The playground has the page's whole width.
    sidebar: {
      '/guide/': inFolder('guide'),
      '/reference/': [...reference, ...apiGroups],
      // Of exports, the packages are in the list.
      '/api/': [...apiGroups.map((group) => ({ ...group, collapsed: false })), ...reference],
      '/gateway/': inFolder('gateway'),
      '/decisions/': inFolder('decisions'),
      '/proof/': inFolder('proof'),
      '/zh/': zhSidebar,
    },
    outline: [2, 3],
    search,
  },
})
