/** The members used of Node's `ServerResponse`; every class derived from it fits. */
export interface NodeResponse {
  /** What it answers, where the response knows. */
  readonly req?: object | undefined
  statusCode: number
  readonly headersSent: boolean
  readonly destroyed: boolean
  getHeader(name: string): number | string | readonly string[] | undefined
  setHeader(name: string, value: string | number): unknown
  hasHeader(name: string): boolean
  writeHead(status: number): unknown
  write(chunk: string): boolean
  end(): unknown
  flushHeaders(): void
  destroy(): unknown
  emit(event: 'drain'): boolean
  once(event: 'close', listener: () => void): unknown
}

/** The members used of Node's `IncomingMessage`. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly socket: { readonly writable: boolean }
}
