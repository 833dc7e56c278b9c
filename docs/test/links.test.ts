import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { groups, ungrouped } from '../.vitepress/pages.ts'
import { pages, readPage, root } from './markdown.ts'

/** Anchors of a page's headings as GitHub makes them, which the documentation site does too. */
function anchorsOf(page: string): string[] {
  return [...withoutCode(readPage(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  )
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```.*?^```$/gms, '')
}

function deadLinksOf(page: string): string[] {
  const links = [...withoutCode(readPage(page)).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)]
  return links.flatMap(([, link = '']) => {
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : normalize(join(dirname(page), path)).replaceAll('\\', '/')
    if (!existsSync(join(root, target))) return [`${page}: ${link}`]
    return anchor === undefined || anchorsOf(target).includes(anchor) ? [] : [`${page}: ${link} (no such heading)`]
  })
}

it('every link between pages leads to a file and a heading', () => {
  expect(pages().flatMap(deadLinksOf)).toEqual([])
})

it('every page of the guide is in one group of the sidebar and has a description', () => {
  expect(ungrouped()).toEqual([])
  const all = groups().flatMap((group) => group.pages)
  expect(new Set(all.map(({ link }) => link)).size).toBe(all.length)
  expect(all.filter(({ description }) => description.length < 20).map(({ link }) => link)).toEqual([])
})
