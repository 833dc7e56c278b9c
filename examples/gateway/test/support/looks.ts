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
