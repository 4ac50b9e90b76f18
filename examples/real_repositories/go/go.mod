module parcel.example/parcel

go 1.19

require parcel.example/envfile v1.0.0

replace parcel.example/envfile => ./envfile
