import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useColorScheme } from '../preferences.ts'
import { useFormats, useWords } from '../words/words.ts'
import { type ChartLook, chartOptions, type ReadColour } from './chart-options.ts'

interface BarChartProps<T> extends Pick<ChartLook, 'stepSeconds' | 'least' | 'axisText' | 'factor'> {
  readonly label: string
  /** In CSS pixels. */
  readonly height: number
  /** One for each step, the oldest first. */
  readonly items: readonly T[]
  /** When a step begins, in seconds since the epoch. */
  startOf(item: T): number
  /** Stacked bars by their colours, the tallest first: each includes those painted over it. */
  readonly bars: Readonly<Record<string, (item: T) => number>>
  /** What the left axis shows. */
  readonly axis: string
  /** One step in a few words, for screen readers. */
  valueText(item: T): string
  /** One step in full, shown next to the pointer. */
  readout(item: T): ComponentChildren
  /** Runs when a person clicks a step or presses Enter on it. */
  onChoose?: ((item: T) => void) | undefined
}

/** The step at the cursor, and its distance from the chart's left edge in CSS pixels. */
interface Cursor {
  readonly index: number
  readonly left: number
}

/** Bars over time. Each step can be read and chosen with the pointer and the keyboard. */
export function BarChart<T>(props: BarChartProps<T>): JSX.Element {
  const { label, height, items, axis, factor, valueText, readout, onChoose } = props
  const words = useWords()
  const formats = useFormats()
  const { host, cursor, goTo } = useChart(props)
  const last = items.length - 1
  const index = Math.min(last, cursor?.index ?? last)
  const item = items[index]
  const end = items.at(-1)

  const onKeyDown = (event: KeyboardEvent): void => {
    const from = cursor === undefined ? items.length : index
    const targets: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }
    const target = targets[event.key]
    if (target !== undefined) goTo(Math.min(last, Math.max(0, target)))
    else if (event.key === 'Enter' && item !== undefined && onChoose !== undefined) onChoose(item)
    else return
    event.preventDefault()
  }

  return (
    <>
      <p class="axes small" aria-hidden="true">
        <span>{axis}</span>
        {factor !== undefined && <span class="of-factor">{words.failures.axisFactor}</span>}
      </p>
      <div class="plot" style={{ minHeight: `${height}px` }}>
        <div
          ref={host}
          class={onChoose === undefined ? 'canvas' : 'canvas chosen-from'}
          role="slider"
          tabIndex={0}
          aria-label={label}
          aria-valuemin={1}
          aria-valuemax={items.length}
          aria-valuenow={index + 1}
          aria-valuetext={item === undefined ? '' : valueText(item)}
          onKeyDown={onKeyDown}
          onClick={() => cursor !== undefined && item !== undefined && onChoose?.(item)}
        />
        {cursor !== undefined && item !== undefined && (
          <div class="readout" style={placeOf(cursor, host.current?.clientWidth ?? 0)}>
            {readout(item)}
          </div>
        )}
      </div>
      <p class="axes small">
        <span class="of-time">
          {end !== undefined && words.failures.axisTime(formats.zoneAt(props.startOf(end) * 1_000))}
        </span>
      </p>
    </>
  )
}

interface Chart {
  readonly host: { readonly current: HTMLDivElement | null }
  readonly cursor: Cursor | undefined
  /** Moves the cursor to a step, as a pointer would. */
  goTo(index: number): void
}

function useChart<T>({ height, items, startOf, bars, ...look }: BarChartProps<T>): Chart {
  const formats = useFormats()
  const scheme = useColorScheme()
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(undefined)
  const [cursor, setCursor] = useState<Cursor>()
  const { stepSeconds, factor } = look
  const data = useMemo<uPlot.AlignedData>(() => {
    const line = factor === undefined ? [] : [items.map(() => null)]
    return [items.map(startOf), ...Object.values(bars).map((value) => items.map(value)), ...line]
  }, [items, stepSeconds])

  useEffect(() => {
    const element = host.current
    if (element === null) return
    const size = { width: element.clientWidth, height }
    const options = chartOptions(size, colourOf(element), { ...look, formats, colours: Object.keys(bars) })
    const hooks = { ...options.hooks, setCursor: [(each: uPlot) => setCursor(cursorOf(each))] }
    const made = new uPlot({ ...options, hooks }, data, element)
    chart.current = made
    // The observer also fires once at the start. A new size hides the cursor, which a key may have set by then.
    const observer = new ResizeObserver(() => {
      const width = element.clientWidth
      if (width > 0 && width !== made.width) made.setSize({ width, height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [formats, stepSeconds, factor, height, scheme])

  useEffect(() => {
    const made = chart.current
    if (made !== undefined && made.data !== data) made.setData(data)
  }, [data])

  const goTo = (index: number): void => {
    const made = chart.current
    if (made === undefined) return
    const left = made.valToPos((made.data[0][index] ?? 0) + 1, 'x')
    made.setCursor({ left, top: 0 })
    setCursor({ index, left: left + made.over.offsetLeft })
  }
  return { host, cursor, goTo }
}

function cursorOf({ cursor: { idx, left }, over }: uPlot): Cursor | undefined {
  if (typeof idx !== 'number' || left === undefined || left < 0) return undefined
  return { index: idx, left: left + over.offsetLeft }
}

const READOUT_WIDTH = 232
const GAP = 14

/** Next to the pointer and never beyond the edge. */
function placeOf({ left }: Cursor, width: number): { readonly left: string; readonly width: string } {
  const beside = left + GAP + READOUT_WIDTH <= width ? left + GAP : left - GAP - READOUT_WIDTH
  return { left: `${Math.max(0, Math.min(width - READOUT_WIDTH, beside))}px`, width: `${READOUT_WIDTH}px` }
}

/** Reads computed colours from an element, because a CSS variable isn't a computed colour. */
function colourOf(element: HTMLElement): ReadColour {
  return (variable) => {
    const probe = document.createElement('span')
    probe.style.color = `var(${variable})`
    element.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
}
