package actorbench

// Published is a figure of Akka.NET's pull request 6195: AMD Ryzen 7 1700, Windows 10, .NET 7.0.0,
// BenchmarkDotNet 0.13.1. What was not published is 0.
type Published struct {
	MeanNs     float64 `json:"meanNs"`
	ErrorNs    float64 `json:"errorNs"`
	StdDevNs   float64 `json:"stdDevNs"`
	Gen0       float64 `json:"gen0Per1000"` // collections of the youngest generation in 1000 operations
	AllocBytes float64 `json:"allocBytes"`
}

type pathKey struct {
	method string
	uid    int32
}

// The methods of the original's benchmark, by the original's names.
const (
	parse         = "Parse"
	concat        = "Concat"
	equals        = "Equals"
	toString      = "ToString"
	serialization = "ToSerializationFormat"
	withAddress   = "ToSerializationFormatWithAddress"
)

// publishedPaths is the final state of the pull request, and publishedBase the branch v1.4 before it, on the
// same machine and day. Without a uid only means and bytes are known.
var publishedPaths = map[pathKey]Published{
	{parse, 1}:                  {286.090, 5.4953, 5.8799, 0.0992, 416},
	{concat, 1}:                 {39.046, 0.8300, 0.8151, 0.0268, 112},
	{equals, 1}:                 {4.276, 0.0173, 0.0135, 0, 0},
	{toString, 1}:               {56.383, 0.7110, 0.6650, 0.0268, 112},
	{serialization, 1}:          {68.930, 0.9070, 0.8040, 0.0286, 120},
	{withAddress, 1}:            {75.431, 0.8508, 0.7958, 0.0286, 120},
	{parse, 100000}:             {281.287, 2.4783, 2.0695, 0.0992, 416},
	{concat, 100000}:            {38.671, 0.1395, 0.1089, 0.0268, 112},
	{equals, 100000}:            {4.267, 0.0162, 0.0126, 0, 0},
	{toString, 100000}:          {57.425, 0.7558, 0.6700, 0.0267, 112},
	{serialization, 100000}:     {87.786, 0.2636, 0.2058, 0.0305, 128},
	{withAddress, 100000}:       {84.566, 0.7803, 0.7299, 0.0305, 128},
	{parse, 2147483647}:         {295.088, 2.3138, 1.9321, 0.0992, 416},
	{concat, 2147483647}:        {39.235, 0.5909, 0.5527, 0.0268, 112},
	{equals, 2147483647}:        {4.290, 0.0326, 0.0305, 0, 0},
	{toString, 2147483647}:      {56.219, 0.9611, 0.8990, 0.0267, 112},
	{serialization, 2147483647}: {108.536, 2.2346, 3.2049, 0.0324, 136},
	{withAddress, 2147483647}:   {93.275, 1.7111, 1.6006, 0.0324, 136},
	{parse, 0}:                  {MeanNs: 224.3, AllocBytes: 464},
	{concat, 0}:                 {MeanNs: 39.4, AllocBytes: 112},
	{equals, 0}:                 {MeanNs: 4.27},
	{toString, 0}:               {MeanNs: 49.1, AllocBytes: 112},
	{serialization, 0}:          {MeanNs: 57.2, AllocBytes: 112},
	{withAddress, 0}:            {MeanNs: 64.3, AllocBytes: 112},
}

var publishedBase = map[pathKey]Published{
	{parse, 1}:                  {MeanNs: 268.316, AllocBytes: 416},
	{concat, 1}:                 {MeanNs: 38.400, AllocBytes: 112},
	{equals, 1}:                 {MeanNs: 4.377},
	{toString, 1}:               {MeanNs: 50.872, AllocBytes: 112},
	{serialization, 1}:          {MeanNs: 168.876, AllocBytes: 256},
	{withAddress, 1}:            {MeanNs: 168.242, AllocBytes: 256},
	{parse, 100000}:             {MeanNs: 281.081, AllocBytes: 416},
	{concat, 100000}:            {MeanNs: 38.480, AllocBytes: 112},
	{equals, 100000}:            {MeanNs: 4.377},
	{toString, 100000}:          {MeanNs: 50.507, AllocBytes: 112},
	{serialization, 100000}:     {MeanNs: 180.087, AllocBytes: 264},
	{withAddress, 100000}:       {MeanNs: 185.135, AllocBytes: 264},
	{parse, 2147483647}:         {MeanNs: 300.098, AllocBytes: 416},
	{concat, 2147483647}:        {MeanNs: 39.325, AllocBytes: 112},
	{equals, 2147483647}:        {MeanNs: 4.360},
	{toString, 2147483647}:      {MeanNs: 51.842, AllocBytes: 112},
	{serialization, 2147483647}: {MeanNs: 193.560, AllocBytes: 272},
	{withAddress, 2147483647}:   {MeanNs: 194.647, AllocBytes: 272},
	{parse, 0}:                  {MeanNs: 227.1, AllocBytes: 464},
	{concat, 0}:                 {MeanNs: 39.6, AllocBytes: 112},
	{equals, 0}:                 {MeanNs: 4.32},
	{toString, 0}:               {MeanNs: 48.7, AllocBytes: 112},
	{serialization, 0}:          {MeanNs: 60.0, AllocBytes: 112},
	{withAddress, 0}:            {MeanNs: 57.9, AllocBytes: 112},
}

type digitKey struct {
	method string
	value  int64
}

const (
	charCount = "Int64CharCount"
	tryFormat = "TryFormat"
)

// publishedDigits is the final state of SpanHacks in the same pull request. Nothing is allocated.
var publishedDigits = map[digitKey]Published{
	{charCount, -1}:                  {MeanNs: 5.034},
	{charCount, 0}:                   {MeanNs: 2.417},
	{charCount, 1}:                   {MeanNs: 2.752},
	{charCount, 1000}:                {MeanNs: 2.743},
	{charCount, 2147483647}:          {MeanNs: 3.072},
	{charCount, 9223372036854775807}: {MeanNs: 11.124},
	{tryFormat, -1}:                  {MeanNs: 10.644},
	{tryFormat, 0}:                   {MeanNs: 6.725},
	{tryFormat, 1}:                   {MeanNs: 6.782},
	{tryFormat, 1000}:                {MeanNs: 15.053},
	{tryFormat, 2147483647}:          {MeanNs: 25.817},
	{tryFormat, 9223372036854775807}: {MeanNs: 54.919},
}
