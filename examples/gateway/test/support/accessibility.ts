import type { Page } from '@scoregw/browser'
import axe from 'axe-core'

/** What makes a page hard or impossible to use for some; every finding, in short. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Half a megabyte: once a document is enough.
  if (await page.evaluate<boolean>('typeof axe === "undefined"')) await page.evaluate(axe.source)
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  )
  return found.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ html }) => html)
        .join(' | ')
        .slice(0, 400)}`,
  )
}
