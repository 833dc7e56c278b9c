import type { Page } from '@scoregw/browser'

/** What takes the focus, one of each group of radio buttons, with a number each. */
const NUMBER_STOPS = `(() => {
  const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
  const isStop = (each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility({ visibilityProperty: true })
  const isChosen = (each) => each.type !== 'radio' || each.checked
  window.stops = all.filter((each) => isStop(each) && isChosen(each))
  return window.stops.map((each) => each.outerHTML.slice(0, 90))
})()`

/** Which of them has the focus (-1: none), and whether one sees it: an outline of its own, or of what it is drawn by. */
const FOCUS = `(() => {
  const at = document.activeElement
  const drawn = [at, at.parentElement, at.nextElementSibling, ...(at.labels ?? [])].filter((each) => each !== null)
  const hasOutline = (each) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0
  }
  return { stop: window.stops.indexOf(at), isSeen: drawn.some(hasOutline) }
})()`

/**
 * Goes through a page only by the Tab key, forwards and backwards.
 *
 * @returns the controls that are not reached, and those that do not show that they have the focus
 */
export async function keyboardFaults(page: Page): Promise<string[]> {
  const stops = await page.evaluate<string[]>(NUMBER_STOPS)
  const faults: string[] = []
  for (const key of ['Tab', 'Shift+Tab']) {
    const reached = new Set<number>()
    // A field of a time is several stops, and between the last and the first there is the window itself.
    for (let pressed = 0; pressed < 3 * stops.length + 20 && !stops.every((_, stop) => reached.has(stop)); pressed++) {
      await page.keyboard.press(key)
      const { stop, isSeen } = await page.evaluate<{ stop: number; isSeen: boolean }>(FOCUS)
      reached.add(stop)
      if (stop >= 0 && !isSeen) faults.push(`the focus is not seen: ${stops[stop]}`)
    }
    faults.push(...stops.filter((_, stop) => !reached.has(stop)).map((stop) => `not reached by ${key}: ${stop}`))
  }
  return faults
}
