import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

type Triple = readonly [number, number, number]

/** How colour-blind eyes see linear red, green and blue (Machado, Oliveira and Fernandes, 2009). */
const EYES: Readonly<Record<string, readonly [Triple, Triple, Triple]>> = {
  ordinary: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

/** Colours next to each other in one chart. */
const CHARTS = [
  ['succeeded', 'refused', 'client-error', 'server-error'],
  ['client-error', 'server-error', 'code-zero', 'factor'],
]
/** In CIELAB. 2.3 is the smallest difference that people see. */
const LEAST_DIFFERENCE = 18
/** Between parts of a picture and their background, by WCAG 1.4.11. */
const LEAST_CONTRAST = 3

const css = readFileSync(new URL('../src/styles/base.css', import.meta.url), 'utf8')

function coloursOf(theme: 0 | 1): (name: string) => Triple {
  return (name) => {
    const hex = new RegExp(`--${name}: light-dark\\(#(\\w{6}), #(\\w{6})\\)`).exec(css)?.[1 + theme]
    if (hex === undefined) throw new Error(`the style sheet has no colour ${name}`)
    return [0, 2, 4].map((at) => linear(Number.parseInt(hex.slice(at, at + 2), 16) / 255)) as unknown as Triple
  }
}

function linear(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
}

function dot(a: Triple, b: Triple): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

function seen(colour: Triple, eyes: readonly [Triple, Triple, Triple]): Triple {
  return eyes.map((row) => Math.min(1, Math.max(0, dot(row, colour)))) as unknown as Triple
}

function lab(colour: Triple): Triple {
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)
  const x = f(dot([0.4124, 0.3576, 0.1805], colour) / 0.95047)
  const y = f(luminance(colour))
  const z = f(dot([0.0193, 0.1192, 0.9505], colour) / 1.08883)
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

function luminance(colour: Triple): number {
  return dot([0.2126, 0.7152, 0.0722], colour)
}

function contrast(a: Triple, b: Triple): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other)
  return (light + 0.05) / (dark + 0.05)
}

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('chart colours in the %s theme', (_name, theme) => {
  const colour = coloursOf(theme)

  it.each(Object.keys(EYES))('chart colours can be distinguished with %s', (kind) => {
    const eyes = EYES[kind] as readonly [Triple, Triple, Triple]
    const alike = CHARTS.flatMap((names) =>
      names.flatMap((one, index) =>
        names.slice(index + 1).map((other) => {
          const [a, b] = [lab(seen(colour(one), eyes)), lab(seen(colour(other), eyes))]
          return { one, other, difference: Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) }
        }),
      ),
    ).filter(({ difference }) => difference < LEAST_DIFFERENCE)
    expect(alike).toEqual([])
  })

  it('chart colours contrast with the background and differ from links', () => {
    const names = [...new Set(CHARTS.flat())]
    expect(names.filter((name) => contrast(colour(name), colour('paper')) < LEAST_CONTRAST)).toEqual([])
    expect(names.filter((name) => String(colour(name)) === String(colour('mark')))).toEqual([])
  })
})
