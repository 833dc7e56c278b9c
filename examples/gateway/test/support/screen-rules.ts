import type { Page } from '@scoregw/browser'

/**
 * Complaints that a person in front of the screen would have about the page: each a function of its own, without
 * anything from outside, since it runs in the browser.
 */
const RULES = `(() => {
  const faults = []
  const say = (what, element) => {
    const text = (element.innerText || element.value || element.getAttribute('aria-label') || '').trim().replace(/\\s+/g, ' ')
    faults.push(what + ': ' + element.tagName.toLowerCase() + '.' + element.className + ' "' + text.slice(0, 60) + '"')
  }
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.closest('.hidden, .skip, [hidden]') === null
  const isOpen = document.querySelector('dialog[open]')
  const root = isOpen ?? document.body
  const width = document.documentElement.clientWidth

  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page is wider than the screen')

  // Text that stands: a few letters a line, line after line, or a row that is higher than its content.
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
    const text = node.data.trim()
    const parent = node.parentElement
    if (text.length < 8 || parent === null || !isSeen(parent) || parent.closest('option, script, style, noscript') !== null) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const lines = new Set([...range.getClientRects()].filter((line) => line.width > 0).map((line) => Math.round(line.top)))
    if (lines.size > 3 && text.length / lines.size < 6) say('stands in ' + lines.size + ' lines', parent)
  }
  for (const row of root.querySelectorAll('tbody tr, .entries > li')) {
    if (!isSeen(row)) continue
    const line = Number.parseFloat(getComputedStyle(row).lineHeight)
    const cells = row.matches('tr') ? [...row.cells] : [row]
    const needs = cells.map((cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      return range.getBoundingClientRect().height
    })
    if (row.getBoundingClientRect().height > Math.max(...needs, line) + 1.5 * line) say('row is higher than its content', row)
  }

  // Text that is cut: a box that hides a part of it.
  for (const element of root.querySelectorAll('*')) {
    if (!isSeen(element) || element.closest('svg, .plot, select, meter') !== null) continue
    const style = getComputedStyle(element)
    const isField = element.matches('input:not([type=checkbox], [type=radio], [type=password], [type=search])')
    const hides = /hidden|clip/.test(style.overflowX)
    if ((hides || isField) && element.scrollWidth > element.clientWidth + 1 && (isField ? element.value.length < 24 : element.innerText?.trim())) say('is cut', element)
  }

  // What can be used is on the screen, can be hit, and is covered by nothing.
  for (const element of root.querySelectorAll('a[href], button, input, select, summary')) {
    if (!isSeen(element)) continue
    const box = element.getBoundingClientRect()
    if (box.width === 0) continue
    const scrolls = element.closest('.scroll')
    if (scrolls === null && (box.left < -1 || box.right > width + 1)) say('is beyond the edge', element)
    const isInText = element.matches('a') && getComputedStyle(element).display === 'inline'
    const label = element.closest('label')?.getBoundingClientRect() ?? box
    const hit = { width: Math.max(box.width, label.width), height: Math.max(box.height, label.height) }
    if (!isInText && (hit.width < 24 || hit.height < 24)) say('is hard to hit (' + Math.round(hit.width) + ' x ' + Math.round(hit.height) + ')', element)
  }
  const bars = [...root.querySelectorAll('.save-bar')].filter(isSeen)
  if (bars.some((bar) => bar.getBoundingClientRect().height > innerHeight / 3)) faults.push('what sticks takes a third of the screen')

  // Columns that stay while others scroll leave room for these.
  for (const scroll of root.querySelectorAll('.scroll')) {
    const stuck = scroll.querySelector('tbody .stick')
    if (stuck !== null && scroll.scrollWidth > scroll.clientWidth && stuck.getBoundingClientRect().width > scroll.clientWidth * 0.6) say('leaves no room', stuck)
  }
  return [...new Set(faults)]
})()`

/** What a page looks like on its screen that nobody would call right; in short. */
export function screenFaults(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(RULES)
}
