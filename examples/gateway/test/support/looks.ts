import type { Page } from '@scoregw/browser'
import axe from 'axe-core'

/** What makes a page hard or impossible to use for some; every finding, in short. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    'axe.run().then(({ violations }) => violations)',
  )
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
}

/** Elements outside of the screen to the side, or whose text is cut; what scrolls by itself may be wider. */
export function cutTexts(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('main *')].flatMap((each) => {
    if (each.closest('.scroll, svg, .hidden, .u-wrap')) return []
    const box = each.getBoundingClientRect()
    if (box.width === 0 || box.height === 0) return []
    const isOutside = box.left < -0.5 || box.right > document.documentElement.clientWidth + 0.5
    const style = getComputedStyle(each)
    const isCut = each.scrollWidth > each.clientWidth + 1 && style.overflowX !== 'visible' && each.clientWidth > 0
    return isOutside || (isCut && !each.matches('input, select, pre'))
      ? ['cut: ' + each.outerHTML.slice(0, 120)] : []
  })`)
}

/** Rows of tables whose text takes more lines than words that nothing holds would take: one letter a line. */
export function highRows(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('main table tr, main li')].flatMap((row) => {
    const line = Number.parseFloat(getComputedStyle(row).lineHeight) || 24
    const { width, height } = row.getBoundingClientRect()
    const letters = [...row.innerText].length
    // Half of the width would do for all of its text, and two lines more.
    const needed = (Math.ceil((letters * 9) / Math.max(1, width / 2)) + 2) * line + 24
    return height > needed ? ['high: ' + Math.round(height) + ' ' + row.innerText.slice(0, 80)] : []
  })`)
}
