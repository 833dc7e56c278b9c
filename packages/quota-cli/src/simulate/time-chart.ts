import { counted, instant, lasting } from '../text.ts'
import { type Html, html } from './html.ts'
import type { PolicyResult } from './result.ts'

const WIDTH = 960
const HEIGHT = 240
const LEFT = 64
const BOTTOM = 28
const TOP = 12

/** Requests over time as an image for the page: admitted ones on top of refused ones. */
export function timeChart({ policy, time, requests, refused }: PolicyResult): Html {
  const { asked, from, lengthMs } = time
  const top = niceTop(Math.max(1, ...asked))
  const step = (WIDTH - LEFT) / asked.length
  const y = (count: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - count / top)
  const bars = asked.map((all, at) => {
    const turned = time.refused[at] ?? 0
    const x = LEFT + at * step
    const when = instant(from + at * lengthMs)
    return html`<g><title>${when}: ${counted(all)} requests, ${counted(turned)} refused</title>
<rect x="${fixed(x)}" y="${TOP}" width="${fixed(step)}" height="${HEIGHT - TOP - BOTTOM}" class="hit"/>
<rect x="${fixed(x)}" y="${fixed(y(all))}" width="${fixed(Math.max(0.6, step - 1))}" height="${fixed(y(turned) - y(all))}" class="admitted"/>
<rect x="${fixed(x)}" y="${fixed(y(turned))}" width="${fixed(Math.max(0.6, step - 1))}" height="${fixed(y(0) - y(turned))}" class="refused"/></g>`
  })
  const lines = [0, 0.5, 1].map(
    (
      share,
    ) => html`<line x1="${LEFT}" x2="${WIDTH}" y1="${fixed(y(share * top))}" y2="${fixed(y(share * top))}" class="grid"/>
<text x="${LEFT - 8}" y="${fixed(y(share * top) + 4)}" text-anchor="end">${counted(share * top)}</text>`,
  )
  const label = `Requests over time under ${policy}: ${counted(requests)}, of which ${counted(refused)} refused`
  return html`<figure><div class="scroll" tabindex="0" role="region" aria-label="${policy}: requests over time"><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
${lines}${bars}
<text x="${LEFT}" y="${HEIGHT - 6}">${instant(from)}</text>
<text x="${WIDTH}" y="${HEIGHT - 6}" text-anchor="end">${instant(from + asked.length * lengthMs)}</text>
</svg></div><figcaption><span class="key admitted"></span> admitted <span class="key refused"></span> refused; requests in each ${lasting(lengthMs)}, times in UTC</figcaption></figure>`
}

function fixed(value: number): string {
  return Math.max(0, value).toFixed(1)
}

/** The value at the top of the chart: a round, even number, so that its half is whole. */
function niceTop(most: number): number {
  const size = 10 ** Math.floor(Math.log10(most))
  const tops = [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10].map((each) => Math.round(each * size))
  return tops.find((top) => top >= most && top % 2 === 0) ?? 2
}
