/** What every store must do, of the package as it is published. */
import { mapStore } from 'plimsoll'
import { describeStore } from 'plimsoll/testing'

describeStore('map', () => mapStore())
