/** Index of all facts that hold, whatever their project: not superseded, resolved or swept. */
export const LIVE = 'fact'
