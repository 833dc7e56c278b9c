import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Failures } from '../api/api.ts'
import { useColorScheme } from '../use-theme.ts'
import { useFormats, useWords } from '../words/words.ts'
import { type Colours, chartOptions } from './chart-options.ts'
import type { FactorStep } from './factor-line.ts'
import { type Cursor, Legend, Readout, Totals } from './readout.tsx'

const HEIGHT = 300

interface ChartProps {
  readonly failures: Failures
  readonly steps: readonly FactorStep[]
  /** Of the numbers of all of it. */
  readonly title: string
}

/** The shares of requests that failed, and the adaptive factor over them; each step can be read, by pointer and keys. */
export function ErrorChart({ failures, steps, title }: ChartProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const scheme = useColorScheme()
  const host = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(undefined)
  const [cursor, setCursor] = useState<Cursor>()
  const index = cursor?.index
  const { series, until } = failures

  useEffect(() => {
    const element = host.current
    if (element === null) return
    const look = { colours: coloursOf(element), formats, steps, until: Date.parse(until) / 1_000, onCursor: setCursor }
    const made = new uPlot(chartOptions(element.clientWidth, HEIGHT, look), dataOf(failures), element)
    chart.current = made
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height: HEIGHT })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      made.destroy()
    }
  }, [failures, steps, formats, scheme])

  /** Puts the cursor on a step, as a pointer would. */
  const goTo = (wanted: number): void => {
    const made = chart.current
    if (made === undefined) return
    const next = Math.min(series.length - 1, Math.max(0, wanted))
    const left = made.valToPos((made.data[0][next] ?? 0) + 1, 'x')
    made.setCursor({ left, top: 0 })
    setCursor({ index: next, left: left + made.over.offsetLeft })
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    const from = index ?? series.length
    const targets: Record<string, number> = {
      ArrowLeft: from - 1,
      ArrowRight: from + 1,
      Home: 0,
      End: series.length - 1,
    }
    const target = targets[event.key]
    if (target === undefined) return
    event.preventDefault()
    goTo(target)
  }

  return (
    <figure class="chart">
      <Legend />
      <p class="axes small" aria-hidden="true">
        <span>{words.failures.axisShare}</span>
        <span class="of-factor">{words.failures.axisFactor}</span>
      </p>
      <div class="plot">
        <div
          ref={host}
          class="canvas"
          role="slider"
          tabIndex={0}
          aria-label={`${words.failures.chart}. ${words.failures.chartKeys}`}
          aria-valuemin={1}
          aria-valuemax={series.length}
          aria-valuenow={(index ?? series.length - 1) + 1}
          aria-valuetext={valueText(failures, index, formats)}
          onKeyDown={onKeyDown}
        />
        {cursor !== undefined && (
          <Readout failures={failures} steps={steps} cursor={cursor} width={host.current?.clientWidth ?? 0} />
        )}
      </div>
      <p class="axes small">
        <span class="of-time">{words.failures.axisTime(formats.zoneAt(until))}</span>
      </p>
      <Totals failures={failures} steps={steps} title={title} />
    </figure>
  )
}

/** Shares of all requests, each with those that are painted over it. */
function dataOf({ series }: Failures): uPlot.AlignedData {
  const share = (count: number, calls: number): number => (calls === 0 ? 0 : count / calls)
  return [
    series.map(({ bucketUnix }) => bucketUnix),
    series.map(({ businessFail, serverError, calls }) => share(businessFail + serverError, calls)),
    series.map(({ serverError, calls }) => share(serverError, calls)),
    series.map(({ codeZero, calls }) => share(codeZero, calls)),
    series.map(() => null),
  ]
}

function valueText({ series }: Failures, index: number | undefined, formats: ReturnType<typeof useFormats>): string {
  const bucket = series[index ?? series.length - 1]
  return bucket === undefined ? '' : `${formats.dateTime(bucket.ts)}: ${formats.percent(bucket.failureRate)}`
}

/** Current colours of the style sheet, read from an element, since a CSS variable is not a computed colour. */
function coloursOf(element: HTMLElement): Colours {
  const probe = document.createElement('span')
  element.append(probe)
  const read = (variable: string): string => {
    probe.style.color = `var(${variable})`
    return getComputedStyle(probe).color
  }
  const colours = {
    text: read('--quiet'),
    line: read('--line'),
    codeZero: read('--code-zero'),
    server: read('--server-error'),
    business: read('--business'),
    factor: read('--factor'),
  }
  probe.remove()
  return colours
}
