import type { DefaultTheme } from 'vitepress'

export interface Link {
  readonly text: string
  /** From the site's root. */
  readonly link: string
}

/** At most this many pages are named. */
const MOST = 5

/** All pages of the sidebars. */
export function linksIn(sidebar: DefaultTheme.Config['sidebar'] = []): Link[] {
  const items = Array.isArray(sidebar) ? sidebar : Object.values(sidebar).flat()
  const byLink = new Map<string, Link>()
  const add = ({ text, link, items: within = [] }: DefaultTheme.SidebarItem): void => {
    if (text !== undefined && link !== undefined) byLink.set(link, { text, link })
    for (const each of within) add(each)
  }
  for (const each of items) add(each as DefaultTheme.SidebarItem)
  return [...byLink.values()]
}

/** The pages that share words with an address that leads nowhere, those with most words first. */
export function likelyPages(pathname: string, links: readonly Link[]): Link[] {
  const wanted = wordsOf(decoded(pathname))
  const scored = links.map((link) => {
    const words = wordsOf(`${link.link} ${link.text}`)
    return { link, score: wanted.filter((word) => words.some((each) => isLike(each, word))).length }
  })
  const likely = scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score)
  return likely.slice(0, MOST).map(({ link }) => link)
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}

/** Words that every address of a kind has say nothing about the page. */
const COMMON = new Set(['guide', 'reference', 'gateway', 'api', 'html', 'quota', 'scoregw', 'zh', 'index'])

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return words.filter((word) => word.length > 1 && !COMMON.has(word))
}

function isLike(word: string, wanted: string): boolean {
  if (word === wanted) return true
  return Math.min(word.length, wanted.length) > 3 && (word.startsWith(wanted) || wanted.startsWith(word))
}
