import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useColorScheme } from '../preferences.ts'

/** Reads a colour variable of the style sheet. Canvases can't use such variables. */
export type ReadColour = (variable: string) => string

interface TimeChartProps {
  readonly label: string
  /** In CSS pixels. */
  readonly height: number
  /** Steps in seconds since the epoch, and the series drawn over them. */
  readonly data: uPlot.AlignedData
  /** The chart is recreated when this function changes. */
  optionsOf(width: number, height: number, colour: ReadColour): uPlot.Options
  /** One step in a few words, for screen readers. */
  valueText(index: number): string
  /** One step in full, shown next to the pointer. */
  readout(index: number): ComponentChildren
}

/** The step at the cursor, and its distance from the chart's left edge in CSS pixels. */
interface Cursor {
  readonly index: number
  readonly left: number
}

/** A chart over time. Each step can be read with the pointer and the keyboard. */
export function TimeChart(props: TimeChartProps): JSX.Element {
  const { label, height, data, optionsOf, valueText, readout } = props
  const scheme = useColorScheme()
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(undefined)
  const [cursor, setCursor] = useState<Cursor>()
  const count = data[0].length
  const index = Math.min(count - 1, cursor?.index ?? count - 1)

  useEffect(() => {
    const element = host.current
    if (element === null) return
    const options = optionsOf(element.clientWidth, height, colourOf(element))
    const made = new uPlot(
      { ...options, hooks: { ...options.hooks, setCursor: [(each) => setCursor(cursorOf(each))] } },
      data,
      element,
    )
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
  }, [optionsOf, height, scheme])

  useEffect(() => {
    const made = chart.current
    if (made !== undefined && made.data !== data) made.setData(data)
  }, [data])

  /** Moves the cursor to a step, as a pointer would. */
  const goTo = (wanted: number): void => {
    const made = chart.current
    if (made === undefined) return
    const next = Math.min(count - 1, Math.max(0, wanted))
    const left = made.valToPos((made.data[0][next] ?? 0) + 1, 'x')
    made.setCursor({ left, top: 0 })
    setCursor({ index: next, left: left + made.over.offsetLeft })
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    const from = cursor === undefined ? count : index
    const targets: Record<string, number> = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: count - 1 }
    const target = targets[event.key]
    if (target === undefined) return
    event.preventDefault()
    goTo(target)
  }

  return (
    <div class="plot" style={{ minHeight: `${height}px` }}>
      <div
        ref={host}
        class="canvas"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={count}
        aria-valuenow={index + 1}
        aria-valuetext={valueText(index)}
        onKeyDown={onKeyDown}
      />
      {cursor !== undefined && index >= 0 && (
        <div class="readout" style={placeOf(cursor, host.current?.clientWidth ?? 0)}>
          {readout(index)}
        </div>
      )}
    </div>
  )
}

/** Bars over whole steps. */
export function bars(colour: string, scale: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [0.85, Number.POSITIVE_INFINITY], align: 1 })
  return {
    scale,
    fill: colour,
    stroke: colour,
    width: 0,
    points: { show: false },
    ...(paths === undefined ? {} : { paths }),
  }
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
